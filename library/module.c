/* The extension module lookalike.kernels._native: kernels as functions of Python.

kernels.h, which emit.py writes, holds what kernels take and how each is called. An argument that is an array must have the
declared type of elements, number of dimensions and layout, and be writable if the kernel writes to it; nothing is converted.
Integers are cut to 64 bits, as in C. While a kernel runs the interpreter's lock is released.

Limited API of Python 3.11: one file serves all later versions. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

enum kind { INT64, UINT64, FLOAT64, BOOL, NOTHING, ARRAY, TUPLE };

struct field {
    unsigned char kind;
    char letter; /* of an array's elements: i, u, f or ? */
    unsigned char size, dimensions, written, contiguous;
    unsigned char inside; /* of a tuple: how many items */
};

union word {
    int64_t number;
    double real;
    void *pointer;
};

#define KERNEL_TYPES                                                                                                   \
    struct kernel {                                                                                                    \
        const char *name, *key;                                                                                        \
        int arguments, words;                                                                                          \
        enum kind result;                                                                                              \
        int results;                                                                                                   \
        const struct field *fields;                                                                                    \
        const char *const *names;                                                                                      \
        int32_t (*call[LEVELS])(const union word *, void *);                                                           \
    };

#include "kernels.h"

#define MOST_WORDS 256
#define MOST_ARRAYS 40
#define MOST_RESULTS 4

static int level = -1;

/* The arguments of one call, as far as they are read. */
struct call {
    const struct kernel *kernel;
    const struct field *next;
    int words, arrays;
    union word word[MOST_WORDS];
    Py_buffer view[MOST_ARRAYS];
};

static int refuse(struct call *call, int at, const char *given)
{
    static const char *const kinds[] = {"int64", "uint64", "float64", "bool", "", "", "tuple"};
    const struct field *field = call->next;
    const char *name = call->kernel->names[at];
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
            !PyErr_ExceptionMatches(PyExc_BufferError))
            return -1; /* an interrupt, or no memory */
        PyErr_Clear();
    }
    if (field->kind != ARRAY)
        PyErr_Format(PyExc_TypeError, "lookalike.kernels.%s: %s must be %s, not %s", call->kernel->name, name,
                     kinds[field->kind], given);
    else
        PyErr_Format(PyExc_TypeError, "lookalike.kernels.%s: %s must be a%s array of %s%d, of %d dimension%s%s, not %s",
                     call->kernel->name, name, field->written ? " writable" : "n",
                     field->letter == 'i' ? "int" : field->letter == 'u' ? "uint" : field->letter == 'f' ? "float" : "bool",
                     8 * field->size, field->dimensions, field->dimensions == 1 ? "" : "s",
                     field->contiguous ? ", without gaps" : "", given);
    return -1;
}

static int refuse_type(struct call *call, int at, PyObject *value)
{
    PyObject *type, *error, *given, *trace;
    PyErr_Fetch(&error, &given, &trace);
    type = PyType_GetName(Py_TYPE(value));
    const char *name = type ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    PyErr_Restore(error, given, trace);
    refuse(call, at, name ? name : "that");
    Py_XDECREF(type);
    return -1;
}

/* 0 for what is no number of this machine's byte order. */
static char letter_of(const char *format)
{
    if (format[0] == '@' || format[0] == '=' || format[0] == '<') /* processors with code here are all little-endian */
        format++;
    if (format[0] == '\0' || format[1] != '\0')
        return 0;
    switch (format[0]) {
    case 'b': case 'h': case 'i': case 'l': case 'q': case 'n':
        return 'i';
    case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N':
        return 'u';
    case 'f': case 'd':
        return 'f';
    case '?':
        return '?';
    }
    return 0;
}

/* An array is seven words for one dimension, two more for each other: owner, owner's object, items, size of one, data, shape, strides. */
static int read_array(struct call *call, int at, PyObject *value)
{
    const struct field *field = call->next;
    Py_buffer *view = &call->view[call->arrays];
    union word *word = &call->word[call->words];
    int64_t items = 1;
    if (PyObject_GetBuffer(value, view, PyBUF_FORMAT | PyBUF_STRIDES | (field->written ? PyBUF_WRITABLE : 0)) < 0) {
        if (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError)) /* NumPy's is the second */
            return refuse(call, at, "one that is read-only");
        return refuse_type(call, at, value);
    }
    call->arrays++;
    if (letter_of(view->format) != field->letter || view->itemsize != field->size)
        return refuse(call, at, view->format);
    if (view->ndim != field->dimensions)
        return refuse(call, at, "one of another number of dimensions");
    if (field->contiguous && !PyBuffer_IsContiguous(view, 'C'))
        return refuse(call, at, "one with gaps");
    for (int i = 0; i < field->dimensions; i++) {
        items *= view->shape[i];
        word[5 + i].number = view->shape[i];
        word[5 + field->dimensions + i].number = view->strides[i];
    }
    word[0].pointer = word[1].pointer = NULL;
    word[2].number = items;
    word[3].number = view->itemsize;
    word[4].pointer = view->buf;
    call->words += 5 + 2 * field->dimensions;
    call->next++;
    return 0;
}

static int read_scalar(struct call *call, int at, PyObject *value)
{
    union word *word = &call->word[call->words];
    if (call->next->kind == FLOAT64) {
        word->real = PyFloat_AsDouble(value);
        if (PyErr_Occurred())
            return refuse_type(call, at, value);
    } else if (call->next->kind == BOOL) {
        word->number = PyObject_IsTrue(value);
        if (word->number < 0)
            return refuse_type(call, at, value);
    } else {
        PyObject *number = PyNumber_Index(value);
        if (!number)
            return refuse_type(call, at, value);
        word->number = (int64_t)PyLong_AsUnsignedLongLongMask(number);
        Py_DECREF(number);
    }
    call->words++;
    call->next++;
    return 0;
}

static int read_argument(struct call *call, int at, PyObject *value)
{
    if (call->next->kind == ARRAY)
        return read_array(call, at, value);
    if (call->next->kind != TUPLE)
        return read_scalar(call, at, value);
    if (!PyTuple_Check(value) || PyTuple_Size(value) != call->next->inside)
        return refuse_type(call, at, value);
    int items = (call->next++)->inside;
    for (int i = 0; i < items; i++)
        if (read_argument(call, at, PyTuple_GetItem(value, i)) < 0)
            return -1;
    return 0;
}

static PyObject *made(enum kind kind, const union word *result)
{
    switch (kind) {
    case INT64:
        return PyLong_FromLongLong(result->number);
    case UINT64:
        return PyLong_FromUnsignedLongLong((uint64_t)result->number);
    case FLOAT64:
        return PyFloat_FromDouble(result->real);
    case BOOL:
        return PyBool_FromLong(*(const char *)result);
    default:
        Py_INCREF(Py_None);
        return Py_None;
    }
}

static PyObject *call_kernel(PyObject *self, PyObject *const *given, Py_ssize_t n_given)
{
    struct call call;
    union word result[MOST_RESULTS] = {{0}};
    PyObject *answer = NULL;
    int status;
    call.kernel = PyCapsule_GetPointer(self, NULL);
    call.next = call.kernel->fields;
    call.words = call.arrays = 0;
    if (n_given != call.kernel->arguments)
        return PyErr_Format(PyExc_TypeError, "lookalike.kernels.%s takes %d arguments, not %zd", call.kernel->name,
                            call.kernel->arguments, n_given);
    for (int i = 0; i < n_given; i++)
        if (read_argument(&call, i, given[i]) < 0)
            goto end;
    PyThreadState *state = PyEval_SaveThread();
    status = call.kernel->call[level](call.word, result);
    PyEval_RestoreThread(state);
    if (status != 0) {
        PyErr_Format(PyExc_RuntimeError, "lookalike.kernels.%s ended with status %d", call.kernel->name, status);
        goto end;
    }
    if (call.kernel->results == 1) {
        answer = made(call.kernel->result, result);
    } else if ((answer = PyTuple_New(call.kernel->results))) {
        for (int i = 0; answer && i < call.kernel->results; i++) {
            PyObject *item = made(call.kernel->result, &result[i]);
            if (item)
                PyTuple_SetItem(answer, i, item);
            else
                Py_CLEAR(answer);
        }
    }
end:
    while (call.arrays)
        PyBuffer_Release(&call.view[--call.arrays]);
    return answer;
}

#if defined(__x86_64__)
#include <cpuid.h>

static int all_of(unsigned flags, unsigned wanted) { return (flags & wanted) == wanted; }

/* Which registers the operating system saves. */
static unsigned saved(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

/* Level of this processor: the last of level_names whose instructions it has. Asked of the processor itself, since compilers'
own functions for that are not in every compiler's library. */
static int best_level(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d, seven, extended;
    const unsigned fma = 1u << 12, movbe = 1u << 22, popcnt = 1u << 23, xsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    const unsigned bmi = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8, lzcnt = 1u << 5;
    const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31; /* F, DQ, CD, BW, VL */
    if (!__get_cpuid_count(7, 0, &a, &seven, &c, &d) || !__get_cpuid(0x80000001, &a, &b, &extended, &d) ||
        !__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    if (!all_of(c, fma | movbe | popcnt | xsave | avx | f16c) || !all_of(seven, bmi | avx2 | bmi2) || !all_of(extended, lzcnt) ||
        !all_of(saved(), 0x6))
        return 0;
    if (!all_of(seven, avx512) || !all_of(saved(), 0xe6))
        return 1;
#endif
    return LEVELS - 1;
}

static PyObject *use_level(PyObject *self, PyObject *number)
{
    long wanted = PyLong_AsLong(number);
    (void)self;
    if (PyErr_Occurred())
        return NULL;
    if (wanted < 0 || wanted > best_level())
        return PyErr_Format(PyExc_ValueError, "this processor has levels 0 to %d, not %ld", best_level(), wanted);
    level = (int)wanted;
    return PyUnicode_FromString(level_names[level]);
}

static PyMethodDef functions[] = {
    {"use_level", use_level, METH_O, "Take the kernels of one of ``levels``, by its number; return its name."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef methods[sizeof kernels / sizeof *kernels];

static int fill(PyObject *module)
{
    PyObject *by_key = PyDict_New(), *levels = PyTuple_New(LEVELS);
    if (!by_key || !levels)
        return -1;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        PyObject *self = PyCapsule_New((void *)&kernels[i], NULL, NULL), *function;
        methods[i].ml_name = kernels[i].name;
        methods[i].ml_meth = (PyCFunction)(void (*)(void))call_kernel;
        methods[i].ml_flags = METH_FASTCALL;
        function = self ? PyCFunction_NewEx(&methods[i], self, NULL) : NULL;
        if (!function || PyDict_SetItemString(by_key, kernels[i].key, function) < 0)
            return -1;
        Py_DECREF(function);
        Py_DECREF(self);
    }
    for (int i = 0; i < LEVELS; i++)
        PyTuple_SetItem(levels, i, PyUnicode_FromString(level_names[i]));
    level = best_level();
    if (PyModule_AddObjectRef(module, "kernels", by_key) < 0 || PyModule_AddObjectRef(module, "levels", levels) < 0)
        return -1;
    Py_DECREF(by_key);
    Py_DECREF(levels);
    return PyModule_AddIntConstant(module, "best", level);
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Kernels, compiled when the library was built.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && fill(module) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
