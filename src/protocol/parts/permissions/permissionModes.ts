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
