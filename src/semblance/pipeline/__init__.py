"""The steps from documents to kept documents."""
