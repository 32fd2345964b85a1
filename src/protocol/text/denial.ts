/** Text that a model reads of a call that was denied. A reason may be a program's, such as that nobody could be asked: only without one it was a person. */
export const denialText = (reason?: string): string =>
  reason === undefined ? 'Denied by the user: it was not run.' : `Denied: it was not run. Reason: ${reason}`

/** Returns the reason in such a text, also in one of an older log; any other text as it is. Pure. */
export const denialReason = (text: string): string =>
  text.replace(/^Denied(?: by the user)?: it was not run\.(?: Reason: )?/, '')
