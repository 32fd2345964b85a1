/**
 * Modes for calls that no rule covers:
 *
 * - `ask`: the tool decides whether people are asked.
 * - `edits`: as `ask`, but without asking about calls that can be undone.
 * - `plan`: only calls without effects run. Others are answered in words.
 * - `auto`: people are not asked. Denied calls stay denied.
 * - `refuse`: as `ask`, but calls that people would be asked about are denied, for unattended runs.
 */
export const permissionModes = ['ask', 'edits', 'plan', 'auto', 'refuse'] as const
export type PermissionMode = (typeof permissionModes)[number]

/** Returns the id of a rule with the scope `always`, the same in every log. */
export const alwaysId = (decision: 'allow' | 'deny', rule: string): string => `always/${decision}/${rule}`

/** Returns true for the id of a rule with the scope `always`. Other rules have the ids of commands and calls. */
export const isAlwaysId = (id: string): boolean => id.startsWith('always/')
