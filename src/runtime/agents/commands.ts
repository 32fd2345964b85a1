import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { brakeCommands } from '../../protocol/brakes/brakeSchemas.ts'
import {
  askedBrakes,
  askedBy,
  isAsking,
  type AskingCommand,
  type BrakeCommandType,
  type BrakeEvent,
  type BrakeQueue,
} from '../../protocol/brakes/brakeTable.ts'
import type { CheckedCommand } from '../../protocol/bridge/commands.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { textOf, type Block } from '../../protocol/messages.ts'
import type { QueueName } from '../../protocol/runs/queue.ts'
import type { AgentBody } from './agentBody.ts'
import { mayResumeFailed } from '../../machines/conditions.ts'
import { decide } from './decide.ts'
import { useOf } from './useOf.ts'
import { checkDeps, RunDeps } from '../children/runDeps.ts'
import type { Run } from '../../protocol/runs/run.ts'

type Command = Exclude<CheckedCommand, { type: 'agent.stop' }>
type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>

/**
 * Passes a checked command to an agent's machine; `id` identifies its run or message, `isRemote` says whether it came from a remote client and
 * may be repeated, and `deps` are for the run that it starts. Throws as `Agent.dispatch` does.
 */
export function dispatchCommand(
  host: AgentBody,
  command: Command,
  id: string,
  { isRemote, deps }: { readonly isRemote: boolean; readonly deps: unknown },
): Run | undefined {
  checkCommandDeps(host, command, deps)
  if (deps === undefined) return carryOut(host, command, id, isRemote)
  const given = (host.given ??= new RunDeps())
  given.give(id, deps)
  try {
    const run = carryOut(host, command, id, isRemote)
    // It may have been dropped before it began.
    void run?.result.then(() => given.takeBack(id))
    return run
  } catch (thrown) {
    given.takeBack(id)
    throw thrown
  }
}

function carryOut(host: AgentBody, command: Command, id: string, isRemote: boolean): Run | undefined {
  const asked = isRemote ? { requestId: id } : {}
  const at = host.clock.now()
  if (startsRun.has(command.type)) host.announcer.requested(id)
  if (isAsking(command)) return askFor(host, command, id, at)
  switch (command.type) {
    case 'agent.prompt':
    case 'agent.interrupt': {
      checkRoom(host, 'prompts')
      checkFits(host, command.content)
      const run = host.runs.expect(id)
      const interrupt = command.type === 'agent.interrupt' ? ({ interrupt: true } as const) : {}
      host.send({ type: 'prompt', id, at, ...saidIn(command), ...interrupt })
      return run
    }
    case 'agent.steer':
      checkRoom(host, isBusy(host) ? 'steering' : 'prompts')
      checkFits(host, command.content)
      host.send({ type: 'steer', id, at, ...saidIn(command) })
      return undefined
    case 'agent.followUp':
      checkRoom(host, isBusy(host) ? 'followUps' : 'prompts')
      checkFits(host, command.content)
      host.send({ type: 'followUp', id, at, ...saidIn(command) })
      return undefined
    case 'agent.abort':
      host.send(
        command.run === undefined ? { type: 'abort', ...asked } : { type: 'withdraw', id: command.run, ...asked },
      )
      return undefined
    case 'agent.resume':
      return resume(host, command, id)
    case 'agent.decide':
      return decide(host, command, { at, ...asked })
    case 'agent.brake': {
      const { flags, policies } = host.definition.policy
      if (!flags.policies) throw new RuntimeError('BRAKING_OFF', `Agent "${host.agentId}" has no policies.`)
      if (!policies.names.includes(command.policy)) {
        const what = `Agent "${host.agentId}" has no policy ${JSON.stringify(command.policy)}`
        throw new RuntimeError('POLICY_NOT_FOUND', `${what}, only ${policies.names.join(', ')}.`)
      }
      checkRoom(host, 'policyRequests')
      host.send({ type: 'brake', request: { id, by: 'person', policy: command.policy }, at })
      return undefined
    }
    case 'agent.compact':
      checkRoom(host, 'compactRequests')
      host.send({ type: 'compact', request: { id, by: 'person', ...saidIn(command) }, at })
      return undefined
    case 'agent.use':
      checkStore(host)
      host.send({ type: 'use', id, use: useOf(host, command.use), at })
      return undefined
  }
}

/** Queues what a person asks of a brake. Its switch is for the model and the runtime, but that of folding says how. */
function askFor(host: AgentBody, command: AskingCommand, id: string, at: number): undefined {
  if (command.type === 'agent.fold' && !host.definition.policy.flags.fold)
    throw new RuntimeError('BRAKING_OFF', `Agent "${host.agentId}" does not fold.`)
  const { kind, asked } = askedBy(command)
  checkRoom(host, askedBrakes[kind].queue)
  host.send({ type: kind, request: { id, by: 'person', ...asked }, at } as BrakeEvent)
}

const startsRun: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'agent.prompt',
  'agent.interrupt',
  'agent.steer',
  'agent.followUp',
  'agent.resume',
  ...(Object.keys(brakeCommands) as readonly BrakeCommandType[]),
])

/**
 * Checks the dependencies of the run that a command starts or continues.
 *
 * @throws RuntimeError `DEPS_MISSING`, `INVALID_DEPS`
 */
function checkCommandDeps(host: AgentBody, { type }: Command, deps: unknown): void {
  const { definition, given } = host
  if (definition.deps === null) return
  if (type === 'agent.prompt' || type === 'agent.interrupt') checkDeps(definition, deps ?? given?.own, type)
  else if (type === 'agent.resume') checkDeps(definition, deps ?? given?.resumed, type)
  else if ((type === 'agent.steer' || type === 'agent.followUp') && !isBusy(host))
    checkDeps(definition, given?.own, type)
}

/** A command without its addressee. */
const saidIn = <C extends { readonly type: string; readonly agentId: string }>({
  type: _,
  agentId: __,
  ...said
}: C): Omit<C, 'type' | 'agentId'> => said

function resume(host: AgentBody, { limits }: CommandOf<'agent.resume'>, id: string): Run {
  const { pause } = host.context
  if (pause === null ? !mayResumeFailed(host) : pause.type === 'approvals') {
    const why = pause !== null ? ', waiting for approvals' : isBusy(host) ? '' : ', and its last run has not failed'
    throw new RuntimeError('NOT_PAUSED', `Agent "${host.agentId}" is ${host.state}${why}.`)
  }
  const run = host.runs.expect(id)
  void host.runs.resume(run, limits)
  return run
}

/** Returns true if there is a run to send a message into; otherwise the message starts one. */
const isBusy = (host: AgentBody): boolean => host.context.run !== null && host.state !== 'settling'

function checkStore({ agentId, context: { pause } }: AgentBody): void {
  if (pause?.type !== 'store') return
  const why = pause.error.message
  throw new RuntimeError('AGENT_PAUSED', `Agent "${agentId}" is paused because its store failed: ${why}`)
}

/** Returns the tokens of instructions and tools; 0 for those that cannot be written down, which fail the run with a reason. */
function frameTokensOf(definition: AgentDefinition): number {
  try {
    return definition.frameTokens
  } catch {
    return 0
  }
}

/**
 * Refuses a message that no request could hold together with earlier messages of people: these can never be hidden, so each later request would
 * fail. Its images and files are left out of the sum, as only a provider knows their size.
 *
 * @throws RuntimeError `PROMPT_TOO_LARGE`
 */
function checkFits(
  { agentId, definition, conversation, context }: AgentBody,
  content: CommandOf<'agent.prompt'>['content'],
): void {
  const { compaction, counter } = definition
  if (compaction === null) return
  const { contextWindow } = compaction.policy
  const tokensOf = (said: string | readonly Block[]): number =>
    counter.text(typeof said === 'string' ? said : textOf(said))
  const tokens = tokensOf(content)
  const frameTokens = frameTokensOf(definition)
  const waiting = [...context.prompts, ...context.steering, ...context.followUps]
  // Most conversations are far from it.
  const isNear = conversation.tokens + tokens + frameTokens > contextWindow / 2
  const said = isNear ? conversation.trunk().filter(({ message }) => message.role === 'user') : []
  const before = [...said.map(({ message }) => message), ...waiting].reduce(
    (sum, one) => sum + tokensOf(one.content),
    0,
  )
  // Instructions that fill the window are to be blamed themselves.
  if (tokens + before <= contextWindow / 2 || tokens + before + frameTokens <= contextWindow) return
  const more = before === 0 ? '' : `${before} of earlier messages, `
  throw new RuntimeError(
    'PROMPT_TOO_LARGE',
    `The message to agent "${agentId}" has about ${tokens} tokens, with ${more}instructions and tools ${tokens + before + frameTokens}, and its contextWindow is ${contextWindow}. It was not added.`,
  )
}

function checkRoom(body: AgentBody, queue: QueueName | BrakeQueue | 'compactRequests' | 'policyRequests'): void {
  checkStore(body)
  const { agentId, context, definition, unseen } = body
  const waiting = (context[queue]?.length ?? 0) + unseen
  if (waiting < definition.maxQueue) return
  const what = queue === 'compactRequests' ? 'compactions' : queue === 'policyRequests' ? 'policies' : queue
  throw new RuntimeError('QUEUE_FULL', `Agent "${agentId}" has ${waiting} waiting ${what}, the most allowed.`)
}
