import type { Right } from '../../../wire/src/rights.ts'
import type { PartCommandType } from '../../../../src/protocol/parts/partRecords.ts'

/** The right that each command of a part needs. With several, one of them is needed, depending on the command's fields. */
export const partRights: { readonly [T in PartCommandType]: Right | readonly Right[] } = {
  'agent.schedule': 'control',
  'agent.unschedule': 'control',
  'agent.fire': 'control',
  'agent.state': 'control',
  'agent.permit': 'control',
  'agent.revoke': 'control',
  'agent.mode': 'control',
}
