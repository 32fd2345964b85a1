import { isWait } from '../../protocol/runs/waits.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { brakeCommands } from '../../protocol/brakes/brakeSchemas.ts'
import {
  askedBrakes,
  askedBy,
  type AskingCommand,
  type BrakeCommandType,
  type BrakeEvent,
  type BrakeQueue,
} from '../../protocol/brakes/brakeTable.ts'
import { abortFields } from '../../protocol/bridge/abortOptions.ts'
import type { CheckedCommand } from '../../protocol/bridge/commands.ts'
import { RuntimeError, messageOf } from '../../protocol/errors.ts'
import { textOf, type Block } from '../../protocol/messages.ts'
import type { QueueName } from '../../protocol/runs/queue.ts'
import type { AgentContext, UseEvent } from '../../machines/agentTypes.ts'
import type { AgentHost } from './agentHost.ts'
import { mayResumeFailed } from '../../machines/conditions.ts'
import { decide } from './decide.ts'
import { checkDeps, RunDeps } from '../children/runDeps.ts'
import type { ApplyCommand } from '../../actors/parts/applyCommand.ts'
import { applies } from '../../actors/parts/partCommands.ts'
import { RunHandle, type Run } from '../../protocol/runs/run.ts'
import { permissionsOf } from './permissions.ts'
import { offeredNames } from '../../actors/turn/offeredNames.ts'
import { modelIn } from '../../actors/turn/turnFrames.ts'
import type { ModelUse, UseChange } from '../../protocol/bridge/turns.ts'

type Command = Exclude<CheckedCommand, { type: 'agent.stop' }>
type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>

/** An agent, and its context when the command came. Inside a listener the machine is in the middle of a step. */
interface Asked {
  readonly host: AgentHost
  readonly context: AgentContext
}

/**
 * Passes a checked command to an agent's machine. `id` identifies its run or message, `isRemote` is true for a remote
 * client's command, which may be repeated, and `deps` are for the run that it starts. Throws as `Agent.dispatch` does.
 */
export function dispatchCommand(
  asked: Asked,
  command: Command,
  { id, isRemote, deps }: { readonly id: string; readonly isRemote: boolean; readonly deps: unknown },
): Run | undefined {
  const { host } = asked
  const { definition } = host.view
  if (definition.deps !== null) checkCommandDeps(asked, definition, command, deps)
  if (deps === undefined) return carryOut(asked, definition, command, id, isRemote)
  const given = (host.given ??= new RunDeps())
  given.give(id, deps)
  try {
    const run = carryOut(asked, definition, command, id, isRemote)
    // It may have been dropped before it began.
    void run?.result.then(() => given.takeBack(id))
    return run
  } catch (thrown) {
    given.takeBack(id)
    throw thrown
  }
}

function carryOut(
  asked: Asked,
  definition: AgentDefinition,
  command: Command,
  id: string,
  isRemote: boolean,
): Run | undefined {
  const { host } = asked
  const { machine } = host
  const from = isRemote ? { requestId: id } : {}
  const at = host.shared.clock.now()
  if (startsRun.has(command.type)) host.announcer.requested(id)
  switch (command.type) {
    case 'agent.prompt':
    case 'agent.interrupt': {
      checkRoom(asked, definition, 'prompts')
      checkFits(asked, definition, command.content)
      const run = host.runs.await(new RunHandle(id))
      const interrupt = command.type === 'agent.interrupt' ? ({ interrupt: true } as const) : {}
      machine.send({ type: 'prompt', id, at, ...saidIn(command), ...interrupt })
      return run
    }
    case 'agent.steer':
      checkRoom(asked, definition, isBusy(asked) ? 'steering' : 'prompts')
      checkFits(asked, definition, command.content)
      machine.send({ type: 'steer', id, at, ...saidIn(command) })
      return undefined
    case 'agent.followUp':
      checkRoom(asked, definition, isBusy(asked) ? 'followUps' : 'prompts')
      checkFits(asked, definition, command.content)
      machine.send({ type: 'followUp', id, at, ...saidIn(command) })
      return undefined
    case 'agent.abort':
      machine.send(
        command.run === undefined
          ? { type: 'abort', ...from, ...abortFields(command) }
          : { type: 'withdraw', id: command.run, ...from },
      )
      return undefined
    case 'agent.resume':
      return resume(asked, command, id)
    case 'agent.decide':
      return decide(host, command, { at, ...from })
    case 'agent.brake': {
      const { flags, policies } = definition.policy
      if (!flags.policies) throw new RuntimeError('BRAKING_OFF', `Agent "${host.agentId}" has no policies.`)
      if (!policies.names.includes(command.policy)) {
        const what = `Agent "${host.agentId}" has no policy ${JSON.stringify(command.policy)}`
        throw new RuntimeError('POLICY_NOT_FOUND', `${what}, only ${policies.names.join(', ')}.`)
      }
      checkRoom(asked, definition, 'policyRequests')
      machine.send({ type: 'brake', request: { id, by: 'person', policy: command.policy }, at })
      return undefined
    }
    case 'agent.compact':
      checkRoom(asked, definition, 'compactRequests')
      machine.send({ type: 'compact', request: { id, by: 'person', ...saidIn(command) }, at })
      return undefined
    case 'agent.use':
      checkStore(asked)
      machine.send({ type: 'use', id, use: useOf(host, command.use), at })
      return undefined
    default:
      return Object.hasOwn(applies, command.type)
        ? recordFor(asked, definition, command, id, at)
        : askFor(asked, definition, command as AskingCommand, id, at)
  }
}

/** Sends the records that a part's command makes. */
function recordFor(asked: Asked, definition: AgentDefinition, command: Command, id: string, at: number): undefined {
  checkStore(asked)
  const { host, context } = asked
  const apply = (applies as { readonly [type: string]: ApplyCommand<Command['type']> })[command.type]!
  const { agentId, ports } = host
  const isGoverned = permissionsOf(host) !== undefined
  const { parts } = context
  const records = apply(command, { agentId, definition, parts, state: ports?.ownState, isGoverned, id, at })
  const bare = host.shared.sources.redactor?.value(records) ?? records
  host.machine.send({ type: 'record', records: bare, at })
  if (host.isLoaded) host.ports.keepRules()
}

/** Queues a person's request to a brake. The brake's switch is only for the model and the runtime, except for folding, whose settings are needed. */
function askFor(asked: Asked, definition: AgentDefinition, command: AskingCommand, id: string, at: number): undefined {
  const { agentId, machine } = asked.host
  if (command.type === 'agent.fold' && !definition.policy.flags.fold)
    throw new RuntimeError('BRAKING_OFF', `Agent "${agentId}" does not fold.`)
  const { kind, asked: request } = askedBy(command)
  checkRoom(asked, definition, askedBrakes[kind].queue)
  machine.send({ type: kind, request: { id, by: 'person', ...request }, at } as BrakeEvent)
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
function checkCommandDeps(asked: Asked, definition: AgentDefinition, { type }: Command, deps: unknown): void {
  const { given } = asked.host
  if (type === 'agent.prompt' || type === 'agent.interrupt') checkDeps(definition, deps ?? given?.own, type)
  else if (type === 'agent.resume') checkDeps(definition, deps ?? given?.resumed, type)
  else if ((type === 'agent.steer' || type === 'agent.followUp') && !isBusy(asked))
    checkDeps(definition, given?.own, type)
}

/** Returns a command without its type and addressee. */
const saidIn = <C extends { readonly type: string; readonly agentId: string }>({
  type: _,
  agentId: __,
  ...said
}: C): Omit<C, 'type' | 'agentId'> => said

function resume({ host, context }: Asked, { limits }: CommandOf<'agent.resume'>, id: string): Run {
  const { pause } = context
  if (pause === null ? !mayResumeFailed({ context }) : isWait(pause)) {
    const isBetween = pause === null && !isBusy({ host, context })
    const why =
      pause !== null
        ? pause.type === 'timer'
          ? ', and sleeps'
          : ', waiting for approvals'
        : isBetween
          ? ', and its last run has not failed'
          : ''
    throw new RuntimeError('NOT_PAUSED', `Agent "${host.agentId}" is ${host.machine.state}${why}.`)
  }
  const run = host.runs.await(new RunHandle(id))
  // Nothing of an unloaded agent is left to be written.
  if (host.isLoaded) void host.runs.resume(run, limits)
  else host.runs.continue(run, limits)
  return run
}

/** Returns true if there is a run to send a message into; otherwise the message starts one. */
const isBusy = ({ host, context }: Asked): boolean => context.run !== null && host.machine.state !== 'settling'

function checkStore({ host, context: { pause } }: Asked): void {
  if (pause?.type !== 'store') return
  const why = pause.error.message
  throw new RuntimeError('AGENT_PAUSED', `Agent "${host.agentId}" is paused because its store failed: ${why}`)
}

/** Returns the tokens of instructions and tools; 0 if they cannot be serialized, which fails the run with a reason. */
function frameTokensOf(definition: AgentDefinition): number {
  try {
    return definition.frameTokens
  } catch {
    return 0
  }
}

/**
 * Refuses a message that no request could hold together with people's earlier messages: these can never be hidden, so
 * each later request would fail. Images and files are left out of the sum, because only a provider knows their size.
 *
 * @throws RuntimeError `PROMPT_TOO_LARGE`
 */
function checkFits(
  { host, context }: Asked,
  definition: AgentDefinition,
  content: CommandOf<'agent.prompt'>['content'],
): void {
  const { agentId, view } = host
  const { compaction, counter } = definition
  if (compaction === null) return
  const { contextWindow } = compaction.policy
  const frameTokens = frameTokensOf(definition)
  const tokensOf = (said: string | readonly Block[]): number =>
    counter.text(typeof said === 'string' ? said : textOf(said))
  const tokens = tokensOf(content)
  const waiting = [...context.prompts, ...context.steering, ...context.followUps]
  const queued = waiting.reduce((sum, one) => sum + tokensOf(one.content), 0)
  // Most conversations are far from it, with all that they show.
  const isNear = view.conversation.trunkTokens + queued + tokens + frameTokens > contextWindow
  const said = isNear ? view.conversation.path.filter(({ message }) => message.role === 'user') : []
  const before = said.reduce((sum, { message }) => sum + tokensOf(message.content), queued)
  // Instructions that fill the window are to be blamed themselves.
  if (tokens + before <= contextWindow / 2 || tokens + before + frameTokens <= contextWindow) return
  const more = before === 0 ? '' : `${before} of earlier messages, `
  throw new RuntimeError(
    'PROMPT_TOO_LARGE',
    `The message to agent "${agentId}" has about ${tokens} tokens, with ${more}instructions and tools ${tokens + before + frameTokens}, and its contextWindow is ${contextWindow}. It was not added.`,
  )
}

function checkRoom(
  asked: Asked,
  definition: AgentDefinition,
  queue: QueueName | BrakeQueue | 'compactRequests' | 'policyRequests',
): void {
  checkStore(asked)
  const { agentId, machine } = asked.host
  const waiting = (asked.context[queue]?.length ?? 0) + machine.unseen
  if (waiting < definition.maxQueue) return
  const what = queue === 'compactRequests' ? 'compactions' : queue === 'policyRequests' ? 'policies' : queue
  throw new RuntimeError('QUEUE_FULL', `Agent "${agentId}" has ${waiting} waiting ${what}, the most allowed.`)
}

/**
 * Returns the change that a `use` command makes, checked against the agent's definition.
 *
 * @throws RuntimeError `INVALID_OPTION`, `MODEL_NOT_FOUND`
 */
function useOf(host: AgentHost, change: UseChange | null): UseEvent | null {
  if (change === null) return null
  const { instructions, tools, model } = change
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools === undefined ? {} : { tools: tools === null ? null : toolsOf(host, tools) }),
    ...(model === undefined ? {} : { model: model === null ? null : modelOf(host, model) }),
  }
}

function toolsOf({ agentId, view: { definition } }: AgentHost, tools: readonly string[]): string[] {
  try {
    // It is for many turns, in which a source may have what it has not now.
    return offeredNames(definition, tools, definition.toolSources.length > 0)
  } catch (thrown) {
    throw new RuntimeError('INVALID_OPTION', `Agent "${agentId}", tools: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** Finds a model by its name or, if code gave it or it is the definition's own, by its id. */
function modelOf({ agentId, view: { definition }, lent }: AgentHost, name: string): ModelUse {
  const { models } = definition.turns
  const named = models.get(name)
  if (named !== undefined) return { id: named.model.id, name }
  if (modelIn(definition, lent, { id: name }) !== undefined) return { id: name }
  const there = models.size === 0 ? 'none' : `only ${[...models.keys()].join(', ')}`
  throw new RuntimeError('MODEL_NOT_FOUND', `Agent "${agentId}" has no model ${JSON.stringify(name)}, ${there}.`)
}
