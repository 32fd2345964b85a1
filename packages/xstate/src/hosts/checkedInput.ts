import { effectError } from './durable.ts'
import { refused, whyNotKept } from './machineState.ts'
import { asJson, notJson } from './plainJson.ts'
import { Replica, type KeptMachine } from './replica.ts'

/**
 * Returns a copy of a new machine's input, after checking that the machine begins with it and can be kept. `seq`: of its first record.
 * @throws RuntimeError `MACHINE_REFUSED`
 */
export function checkedInput(kept: KeptMachine, seq: number, given: unknown): unknown {
  const wrong = notJson(given, 'input')
  if (wrong !== undefined) throw refused(kept.name, `Its input must be JSON, but ${wrong}`)
  const input = asJson(given)
  const { state } = Replica.begun(kept, seq, input)
  if (state.status === 'error')
    throw refused(kept.name, `It does not begin with this input: ${effectError(state.error).message}`)
  const why = whyNotKept(kept.machine, state)
  if (why !== undefined) throw refused(kept.name, why)
  return input
}
