/** A place that things pass, until it is shut. */
export interface Gate {
  /** Passes, or waits until the gate is opened. */
  pass(): Promise<void>
  /** Shuts the gate; resolves once something waits there. */
  shut(): Promise<void>
  /** Lets go of what waits, and of everything after it. */
  open(): void
}

export function openGate(): Gate {
  let held: { readonly reached: PromiseWithResolvers<void>; readonly opened: PromiseWithResolvers<void> } | undefined
  return {
    async pass() {
      held?.reached.resolve()
      await held?.opened.promise
    },
    shut() {
      held = { reached: Promise.withResolvers(), opened: Promise.withResolvers() }
      return held.reached.promise
    },
    open() {
      held?.opened.resolve()
      held = undefined
    },
  }
}
