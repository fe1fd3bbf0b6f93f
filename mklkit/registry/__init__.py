"""From names to components: hooks, plugins, spec strings, columns, composing.

Built-in components are registered through the same ``@register`` and pluggy hooks as plugins. The
registry imports every module of the strategies' layers, then every entry point of the group
``mklkit``. It creates components from names or spec strings such as ``rbf(sigma='mean')``, which
contain only literals, are parsed with ``ast``, never evaluated, and look the same on the command
line, in Python and in model files.

- An unknown name is an error that suggests the closest known one.
- A name claimed by two plugins is an error when it is used, and the message names both
  distributions. A plugin that claims a built-in name is skipped with a warning.
- A plugin that raises an error or calls ``sys.exit`` when it is imported, has a component that
  violates its protocol, or has damaged metadata is reported in one line with its name, and
  everything else works. What a plugin does to the process on purpose, such as setting the locale,
  is not undone.
"""
