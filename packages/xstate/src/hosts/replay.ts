import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostRules } from './hostTypes.ts'
import type { HostPast } from './hostPast.ts'
import { failedPrint, refused, whyNotKept, type KeptState } from './machineState.ts'
import { Replica, type InputRecord, type KeptMachine } from './replica.ts'

/** An event with the fingerprint of the state that followed from it. */
export interface Trail {
  readonly record: InputRecord
  readonly print: string
}

/**
 * Returns the state of a machine after the last event whose actions were carried out, from its last snapshot and the events after that.
 * @throws RuntimeError `MACHINE_CHANGED`, `MACHINE_IMPURE`, `MACHINE_REFUSED`
 */
export function replayed(kept: KeptMachine, rules: HostRules, past: HostPast): Replica {
  const { created, snapshot, prints, handled } = past
  const { machine, version } = snapshot ?? created
  const isSame = machine === kept.name && version === rules.version
  if (!isSame && rules.migrate === undefined)
    throw new RuntimeError(
      'MACHINE_CHANGED',
      `The log of "${kept.hostId}" is of machine "${machine}"${versionWords(version)}, and this is "${kept.name}"${versionWords(rules.version)}.`,
    )
  const replica =
    snapshot === undefined
      ? Replica.begun(kept, created.seq, created.input)
      : Replica.from(kept, isSame ? (snapshot.snapshot as KeptState) : migrated(kept, rules, snapshot))
  if (isSame && snapshot === undefined) checkPrint(kept, prints.get(created.seq), replica, created)
  if (snapshot === undefined && prints.get(created.seq) === failedPrint) replica.fail()
  for (const input of past.inputs) {
    if (input.seq > handled) break
    replica.take(input)
    if (prints.get(input.seq) === failedPrint) replica.fail()
    if (isSame) checkPrint(kept, prints.get(input.seq), replica, input)
  }
  const why = whyNotKept(kept.machine, replica.state)
  if (why !== undefined) throw refused(kept.name, why)
  return replica
}

/**
 * Replays the same events, and compares the states.
 * @throws RuntimeError `MACHINE_IMPURE`, naming the first event that led to another state
 */
export function checkTrail(kept: KeptMachine, replica: Replica, trail: readonly Trail[]): void {
  for (const { record, print } of trail) {
    replica.take(record)
    checkPrint(kept, print, replica, record)
  }
}

function checkPrint(
  { hostId, name }: KeptMachine,
  print: string | undefined,
  replica: Replica,
  record: {
    readonly seq: number
    readonly type: string
    readonly event?: { readonly type: string }
    readonly actor?: string
  },
): void {
  if (print === undefined || print === replica.print) return
  const { event, actor, seq } = record
  const what =
    event === undefined ? (actor === undefined ? 'its beginning' : `the end of "${actor}"`) : `event "${event.type}"`
  const state = JSON.stringify(replica.state.value)
  throw new RuntimeError(
    'MACHINE_IMPURE',
    `Machine "${name}" ("${hostId}") came to another state when ${what} (record ${seq}) was taken again: now ${state}.`,
  )
}

function migrated(
  kept: KeptMachine,
  rules: HostRules,
  { snapshot, version }: NonNullable<HostPast['snapshot']>,
): KeptState {
  try {
    return rules.migrate!(snapshot, { version }) as KeptState
  } catch (thrown) {
    throw new RuntimeError('MACHINE_CHANGED', `migrate of machine "${kept.name}" failed: ${messageOf(thrown)}.`, {
      cause: thrown,
    })
  }
}

const versionWords = (version: string | undefined): string =>
  version === undefined ? ', without a version' : `, version ${version}`
