"use strict";
// What the pages of the service share: questions to it, with a key that only this page's memory holds, and errors.
const desk = (() => {
  const $ = (id) => document.getElementById(id);
  let key = "", told = 0;

  const tell = (text) => {
    told++;
    $("error").textContent = text;
    $("error").hidden = !text;
  };

  // Ask for a key; an empty one gives up.
  const askKey = () => new Promise((resolve) => {
    const box = beside.make("dialog"), form = beside.make("form"), label = beside.make("label", "", "Key ");
    const field = beside.make("input"), button = beside.make("button", "", "Continue"), row = beside.make("div", "controls");
    box.ariaLabel = "Key";
    field.type = "password";
    field.autocomplete = "off";
    field.id = "key";
    form.method = "dialog";
    label.append(field);
    row.append(label, button);
    form.append(beside.make("p", "", key ? "The service does not accept this key." : "This service asks for a key. The page forgets it when it is closed."), row);
    box.append(form);
    document.body.append(box);
    box.addEventListener("close", () => {
      key = field.value.trim();
      box.remove();
      resolve(key !== "");
    });
    box.showModal();
    field.focus();
  });

  let asking = null; // several questions at once ask for one key
  const ask = async (path, body) => {
    for (;;) {
      const used = key, headers = {};
      if (key) headers.Authorization = "Bearer " + key;
      if (body !== undefined) headers["Content-Type"] = "application/json";
      const answer = await fetch(path, {
        method: body === undefined ? "GET" : "POST", headers, cache: "no-store", credentials: "omit", redirect: "error",
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (answer.status === 401) {
        if (used === key) {
          asking ??= askKey().finally(() => { asking = null; });
          if (!(await asking)) throw new Error("The service asks for a key. Reload the page to give one.");
        }
        continue;
      }
      if (answer.ok) return answer;
      const said = await answer.json().catch(() => ({}));
      throw new Error(said.detail || said.title || "The service answered with status " + answer.status + ".");
    }
  };

  // Run what a user asked for; what goes wrong is shown, until something that began later goes well.
  const attempt = async (work) => {
    const before = told;
    try {
      const made = await work();
      if (told === before) tell("");
      return made;
    } catch (error) {
      tell(error instanceof TypeError ? "The service does not answer: " + error.message : error.message);
      return undefined;
    }
  };

  const json = async (path, body) => (await ask(path, body)).json();
  return { $, ask, json, attempt, tell, hasKey: () => key !== "" };
})();
