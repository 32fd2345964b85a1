import { brakeCommands } from '../../../../src/protocol/brakes/brakeSchemas.ts'
import type { BrakeCommandType } from '../../../../src/protocol/brakes/brakeTable.ts'
import type { AgentCommand, Decision } from '../../../../src/protocol/bridge/commands.ts'
import { isAsked } from '../../../../src/protocol/asked.ts'
import type { ProvenanceKind } from '../../../../src/protocol/provenance.ts'
import { isAlwaysId } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { Grant } from '../../../../src/protocol/parts/permissions/permissionRecords.ts'
import type { Right } from '../../../wire/src/rights.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { PartCommandType } from '../../../../src/protocol/parts/partRecords.ts'

/** The right that each command of a part needs. If several are listed, one of them is needed, depending on the command's fields. */
const partRights: { readonly [T in PartCommandType]: Right | readonly Right[] } = {
  'agent.schedule': 'control',
  'agent.unschedule': 'control',
  'agent.fire': 'control',
  'agent.state': 'control',
  'agent.permit': 'control',
  'agent.revoke': 'control',
  'agent.mode': 'control',
}

/** The right that each command to an agent needs, in any protocol. If several are listed, one of them is needed, depending on the decision. */
export const rightsFor: { readonly [T in AgentCommand['type']]: Right | readonly Right[] } = {
  'agent.prompt': 'talk',
  'agent.interrupt': 'talk',
  'agent.steer': 'talk',
  'agent.followUp': 'talk',
  'agent.abort': 'talk',
  'agent.resume': 'control',
  'agent.stop': 'control',
  ...(Object.fromEntries(Object.keys(brakeCommands).map((type) => [type, 'control'])) as Record<
    BrakeCommandType,
    'control'
  >),
  ...partRights,
  'agent.use': 'use',
  'agent.decide': ['approve', 'answer.own'],
}

/**
 * Converts consecutive contents to a prompt. All but the last are context. For a client that may not give
 * context, they are part of the prompt.
 */
export const saidAs = <T>({ rights }: { readonly rights: ReadonlySet<Right> }, contents: readonly T[][]): T[][] =>
  rights.has('control') || contents.length < 2 ? [...contents] : [contents.flat()]

/** Returns the name of a decision in its command. */
export const nameOf = (decision: Decision): string => (typeof decision === 'string' ? decision : 'answer')

/** Returns the right that a decision needs, according to the entries that wait (`pending`). A denial is possible for any entry. */
export function rightToDecide(callId: string, decision: string, pending: readonly Pending[]): Right {
  const kinds = pending.flatMap((one) => (one.key === callId || one.callId === callId ? [one.kind] : []))
  if (kinds.includes('approval') || decision === 'approve') return 'approve'
  return decision === 'deny' && kinds.length === 0 ? 'approve' : 'answer.own'
}

/** Returns the name, for refusals, of a command that carries more than words. */
export const moreThanWords = (type: string): string =>
  type === 'agent.decide'
    ? `${type} with a rule`
    : Object.hasOwn(partRights, type)
      ? `${type} for good, or so that nobody is asked`
      : `${type} with limits, context or a provenance`

/**
 * Returns the right that a command needs because it carries more than words: limits, context, a provenance or rules for calls. A client that may only talk
 * can send words alone.
 */
export const beyondWords = (command: object): Right | undefined =>
  rightForRules(command) ??
  ('limits' in command ||
  'context' in command ||
  ('provenance' in command && !isAsked(command.provenance as ProvenanceKind))
    ? 'control'
    : undefined)

/** The fields of commands that are about rules for calls. */
interface AboutRules {
  readonly type?: string
  readonly for?: unknown
  readonly grant?: string | Partial<Grant> | undefined
  readonly mode?: unknown
}

/** Returns the right that a command needs because it changes rules for calls. Rules for good, and the mode that asks nobody, need more. */
function rightForRules(command: AboutRules): Right | undefined {
  const { grant } = command
  const isForGood =
    command.for === 'always' ||
    command.mode === 'auto' ||
    (typeof grant === 'string' && isAlwaysId(grant)) ||
    (typeof grant === 'object' && grant?.scope === 'always')
  return isForGood ? 'permit' : grant === undefined ? undefined : 'control'
}
