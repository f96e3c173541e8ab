// Keys of a chart that has the focus.

/**
 * Returns a handler that does what a key, without Ctrl, Alt or Meta, stands for; other keys go on to the browser.
 * `name_of`: the name in `actions` of a key.
 */
export function on_keys(actions: Readonly<Record<string, () => void>>, name_of = (key: string) => key) {
  return (event: KeyboardEvent) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[name_of(event.key)];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
}
