import type { Right } from '../bridge/rights.ts'
import type { PartCommandType } from './partRecords.ts'

/** The right that each command of a part needs. With several, one of them is needed, depending on the command's fields. */
export const partRights: { readonly [T in PartCommandType]: Right | readonly Right[] } = {
  'agent.state': 'control',
  'agent.permit': 'control',
  'agent.revoke': 'control',
  'agent.mode': 'control',
}
