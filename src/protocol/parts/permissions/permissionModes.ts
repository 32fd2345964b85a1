/**
 * Says what happens to calls that no rule is about:
 *
 * - `ask`: their tool says whether people are asked.
 * - `edits`: as `ask`, but nobody is asked about what can be undone.
 * - `plan`: only what has no effects runs; the rest is answered in words.
 * - `auto`: nobody is asked; what is denied stays denied.
 * - `refuse`: as `ask`, but what would be asked is denied, for runs that nobody watches.
 */
export const permissionModes = ['ask', 'edits', 'plan', 'auto', 'refuse'] as const
export type PermissionMode = (typeof permissionModes)[number]

/** Returns the id of a rule that holds always, the same in every log. */
export const alwaysId = (decision: 'allow' | 'deny', rule: string): string => `always/${decision}/${rule}`

/** Returns true for the id of a rule that holds always. Ids of other rules are those of commands and calls. */
export const isAlwaysId = (id: string): boolean => id.startsWith('always/')
