/** Returns a listener for an action inside a row that does not select the row. */
export const stopping =
  (action: () => void) =>
  (event: Event): void => {
    event.stopPropagation()
    action()
  }
