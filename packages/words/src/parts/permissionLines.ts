import type { PartLines } from './describing.ts'
import type { permissionRecords } from '../../../../src/protocol/parts/permissions/permissionRecords.ts'

const until = { session: 'for this session', always: 'always' } as const

export const permissionLines: PartLines<typeof permissionRecords> = {
  'permission.granted': {
    group: 'approval',
    line: ({ rule, decision, scope, by }) =>
      `${decision} ${rule} ${until[scope]}${by === 'store' ? ' (from the store of rules)' : ''}`,
    terminal: ({ rule, decision, scope, by }, { short }) =>
      by === 'store' ? [] : [{ text: `⇢ ${decision} ${until[scope]}: ${short(rule)}`, tone: 'dim' }],
  },
  'permission.revoked': {
    group: 'approval',
    line: ({ id }) => `revoked ${id}`,
  },
  'mode.changed': {
    group: 'approval',
    line: ({ mode, by }) => (by === 'plan' ? `mode ${mode}, as the plan was accepted` : `mode ${mode}`),
    terminal: ({ mode }) => [{ text: `⇢ mode ${mode}`, tone: 'dim' }],
  },
}
