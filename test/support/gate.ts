/** A place that things pass, until it is shut. */
export interface Gate {
  /** Passes, or waits until the gate is opened. */
  pass(): Promise<void>
  /** Shuts the gate; resolves once something waits there. */
  shut(): Promise<void>
  /** Lets whatever comes now pass; what waits there goes on waiting. */
  leaveAjar(): void
  /** Lets go of what waits, and of everything after it. */
  open(): void
}

export function openGate(): Gate {
  let held: { readonly reached: PromiseWithResolvers<void>; readonly opened: PromiseWithResolvers<void> } | undefined
  let isAjar = false
  return {
    async pass() {
      if (isAjar) return
      held?.reached.resolve()
      await held?.opened.promise
    },
    shut() {
      held = { reached: Promise.withResolvers(), opened: Promise.withResolvers() }
      return held.reached.promise
    },
    leaveAjar() {
      isAjar = true
    },
    open() {
      isAjar = false
      held?.opened.resolve()
      held = undefined
    },
  }
}
