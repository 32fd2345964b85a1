/** An action of something inside a row, which does not select the row. */
export const stopping =
  (action: () => void) =>
  (event: Event): void => {
    event.stopPropagation()
    action()
  }
