import { BrakeLog } from '../support/brakeLog.ts'

/** `n2`–`n3` and `n4`–`n6` are abandoned; the head is `n1`. */
export function abandoned(log = new BrakeLog()): BrakeLog {
  log.user('go')
  log.step([{ name: 'look', output: 'the port is 8123' }], { thinking: 'hm' })
  log.step([
    { name: 'edit', output: 'written', changed: ['a.ts'], isIrreversible: true },
    { name: 'check', output: 'all fails', isError: true },
  ])
  log.revert('n1', 'wrong way')
  return log
}

/** The copies of a graft record: `[nodeId, from]` each. */
export const graft = (copies: readonly (readonly [number, number])[]) =>
  copies.map(([nodeId, from]) => ({ nodeId, from }))
