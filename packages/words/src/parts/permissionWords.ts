import type { PartWords } from './describing.ts'
import type { permissionRecords } from '../../../../src/protocol/parts/permissions/permissionRecords.ts'

export const permissionWords: PartWords<typeof permissionRecords> = {
  'permission.granted': {
    log: ({ decision, scope, by }) => ({
      level: 'info',
      message: decision === 'allow' ? 'a rule was added that allows calls' : 'a rule was added that denies calls',
      fields: { scope, by },
    }),
    attributes: ({ rule, decision, scope }, hasContent) => ({
      'escapement.permission.decision': decision,
      'escapement.permission.scope': scope,
      ...(hasContent ? { 'escapement.permission.rule': rule } : {}),
    }),
  },
  'permission.revoked': { log: ({ by }) => ({ level: 'info', message: 'a rule was revoked', fields: { by } }) },
  'mode.changed': {
    log: ({ mode, by }) => ({ level: 'info', message: `mode ${mode}`, fields: { by } }),
    attributes: ({ mode }) => ({ 'escapement.permission.mode': mode }),
    visible: (event) => event,
  },
}
