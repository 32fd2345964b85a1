import type { CheckedCommand } from '../../protocol/bridge/commands.ts'
import type { CallDecision } from '../../machines/agentTypes.ts'
import type { PartDraft } from '../../machines/partStates.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { alwaysId } from '../../protocol/parts/permissions/permissionModes.ts'
import type { Grant } from '../../protocol/parts/permissions/permissionRecords.ts'
import type { Pending } from '../../protocol/runs/pending.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import { hostOf, undecidedOf } from './agentTree.ts'
import { checkDecisionGrant, mayKeep } from './permissions.ts'
import { checkDeps } from '../children/runDeps.ts'

type DecideCommand = Extract<CheckedCommand, { type: 'agent.decide' }>

/**
 * Decides a pending call or question of the agent or, by its key, of an agent below.
 *
 * @throws RuntimeError `CALL_NOT_PENDING`; `ANSWER_INVALID`, `DEPS_MISSING` (then it keeps waiting)
 */
export function decide(
  host: TreeAgent,
  command: DecideCommand,
  how: { readonly at: number; readonly requestId?: string },
): undefined {
  const { pending, owner } = find(host, command.callId)
  const { definition } = owner.view
  if (definition.deps !== null) checkDeps(definition, owner.deps, 'agent.decide')
  const decision = decisionOf(owner, pending, command, (text) => host.announcer.clean(text))
  const keeper = command.grant === undefined ? owner : keeperOf(owner, host, command.grant)
  if (command.grant !== undefined) checkDecisionGrant(keeper, pending.kind, command.grant)
  owner.ports.answers.decided(pending.key)
  if (keeper === owner) {
    owner.machine.send({ type: 'decide', callId: pending.callId, ...decision, ...how })
    if (command.grant?.scope === 'always') owner.ports.keepRules()
    return
  }
  const { grant, ...bare } = decision as CallDecision & { readonly grant: Grant }
  keeper.machine.send({ type: 'record', records: [grantedWith(decision, grant, pending.key)], at: how.at })
  if (grant.scope === 'always') keeper.ports.keepRules()
  const send = (): void => owner.machine.send({ type: 'decide', callId: pending.callId, ...bare, ...how })
  // After a crash between the two, the rule is there, and the call is asked about again.
  const written = keeper.log.durable()
  if (written === undefined) send()
  else written.then(send, send)
}

/**
 * Returns the agent to which a decision about a call of `owner` adds its rule: the topmost one with rules, up to the
 * agent that was asked, so that the rule holds for all agents below.
 */
function keeperOf(owner: TreeAgent, asked: TreeAgent, grant: Grant): TreeAgent {
  let keeper = owner
  for (let agent = owner; agent !== asked && agent.parent !== undefined; agent = agent.parent) {
    // Nothing of an incognito agent is stored.
    if (agent.parent.incognito !== owner.incognito) break
    if (mayKeep(agent.parent, grant)) keeper = agent.parent
  }
  return keeper
}

const grantedWith = (
  { decision }: CallDecision,
  { rule, scope }: Grant,
  key: string,
): Extract<PartDraft, { readonly type: 'permission.granted' }> => {
  const said = decision === 'deny' ? 'deny' : 'allow'
  const id = scope === 'always' ? alwaysId(said, rule) : key
  return { type: 'permission.granted', id, rule, decision: said, scope, by: 'person' }
}

function find(host: TreeAgent, callId: string): { readonly pending: Pending; readonly owner: TreeAgent } {
  const waiting = undecidedOf(host)
  const pending =
    waiting.find((call) => call.callId === callId && call.agentId === host.agentId) ??
    waiting.find(({ key }) => key === callId)
  const owner = pending === undefined ? undefined : hostOf(host, pending.agentId)
  if (pending !== undefined && owner !== undefined) return { pending, owner }
  const there = waiting.map((call) => (call.agentId === host.agentId ? call.callId : call.key)).join(', ') || 'none'
  throw new RuntimeError('CALL_NOT_PENDING', `Call "${callId}" is not waiting for a decision (waiting: ${there}).`)
}

const ways = {
  approval: "'approve' or 'deny'",
  question: "{ value } or 'deny'",
  call: "{ result }, { error } or 'deny'",
} as const satisfies { readonly [K in Pending['kind']]: string }

const waitsFor = { approval: 'an approval', question: 'the answer to a question', call: 'a result' } as const

/** Converts a person's decision to the event that the machine takes. */
function decisionOf(
  owner: TreeAgent,
  pending: Pending,
  { decision, reason, input, value, data, grant }: DecideCommand,
  clean: (text: string) => string,
): CallDecision {
  const refuse = (what: string): never => {
    throw new RuntimeError('ANSWER_INVALID', clean(`Call "${pending.callId}" of "${pending.name}" ${what}.`))
  }
  const rule = grant === undefined ? {} : { grant: { ...grant, rule: clean(grant.rule) } }
  const why = { ...(reason === undefined ? {} : { reason }), ...rule }
  if (decision === 'deny') return { decision, ...why }
  if (pending.kind === 'approval' && decision === 'approve') {
    if (input === undefined) return { decision, ...why }
    const wrong = owner.ports.answers.wrongInInput(pending, input)
    const settled = (): unknown => owner.ports.answers.settled(pending, input)
    return wrong === undefined
      ? { decision, ...why, input: settled() }
      : refuse(`cannot run with these arguments: ${wrong}`)
  }
  if (pending.kind === 'question' && decision === 'answer') {
    const wrong = owner.ports.answers.wrongInAnswer(pending, value)
    return wrong === undefined ? { decision, value } : refuse(`asks ${JSON.stringify(pending.question)}: ${wrong}`)
  }
  if (pending.kind === 'call' && decision === 'return')
    return {
      decision,
      result: owner.ports.answers.resultOf(pending, { value, ...(data === undefined ? {} : { data }) }),
    }
  if (pending.kind === 'call' && decision === 'fail')
    return { decision: 'return', result: owner.ports.answers.resultOf(pending, { error: reason! }) }
  return refuse(`waits for ${waitsFor[pending.kind]}: decide it with ${ways[pending.kind]}`)
}
