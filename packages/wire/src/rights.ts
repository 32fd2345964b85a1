/**
 * Rights of clients. Each allows something to be seen or done:
 *
 * - `see.messages`: what was said, by whom, the names of calls, questions, and how runs end; never instructions, tools' descriptions,
 *   arguments, results or requests.
 * - `see.all`: all records, requests and charts.
 * - `talk`: prompt, steer, follow up, interrupt, abort.
 * - `answer.own`: answer, or decline, what an agent within reach asks, and carry out calls for clients.
 * - `approve`: approve and deny calls.
 * - `control`: resume, stop, revert, prune, graft, fold, brake, compact, pin; limits, context and provenance of a prompt.
 * - `use`: change the instructions, the model and the tools of an agent.
 * - `spawn`: begin agents, and forks.
 * - `permit`: rules for calls that hold for good, and the mode in which nobody is asked.
 * - `share`: make read-only links.
 * - `operate`: see the workers behind a gateway.
 */
export const allRights = [
  'see.messages',
  'see.all',
  'talk',
  'answer.own',
  'approve',
  'control',
  'use',
  'spawn',
  'permit',
  'share',
  'operate',
] as const
export type Right = (typeof allRights)[number]

/** Names of sets of rights. */
export const allRoles = ['observe', 'talk', 'drive', 'admin'] as const
export type Role = (typeof allRoles)[number]

const seeing = ['see.messages', 'see.all'] as const
const driving = [...seeing, 'talk', 'answer.own', 'approve', 'control', 'use'] as const

/** The rights that each role stands for. */
export const rightsOfRole: { readonly [R in Role]: readonly Right[] } = {
  observe: seeing,
  talk: ['see.messages', 'talk', 'answer.own'],
  drive: driving,
  admin: [...driving, 'spawn', 'permit', 'share', 'operate'],
}

/** Returns the rights of a grant as a set. `see.all` includes `see.messages`. */
export function rightsOf({ role, may }: { readonly role?: Role; readonly may?: readonly Right[] }): ReadonlySet<Right> {
  const rights = new Set(may ?? (role === undefined ? [] : rightsOfRole[role]))
  if (rights.has('see.all')) rights.add('see.messages')
  return rights
}
