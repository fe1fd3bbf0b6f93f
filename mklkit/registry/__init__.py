"""From names to components: hooks, plugins, spec strings, columns, composing."""
