import type { ContextMessage } from '../../protocol/runs/queue.ts'
import type { PrepareInput, PrepareOutput, TakenMemory, TakenTools, TurnDecision } from '../../machines/effectTypes.ts'
import { asSentence, describeIssues, errorInfo, messageOf } from '../../protocol/errors.ts'
import type { ToolChoice } from '../../protocol/bridge/turns.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import { callableNames, everyName, noSuch, offeredNames } from './offeredNames.ts'
import type { AgentPorts, FindPorts, SourcesLook } from '../agentPorts.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { effect } from '../effect.ts'
import { answerInTime } from '../timing/answerInTime.ts'
import { stateNote } from '../parts/state/stateNote.ts'
import { remembering } from '../parts/memory/remembering.ts'
import { withoutUndefined } from '../define/withoutUndefined.ts'
import { runContext } from '../calls/runContext.ts'
import { pricedModel, turnChangesSchema, type PricedModel, type TurnChanges, type TurnContext } from './turnOptions.ts'

/**
 * The effect of `preparing`: asks the sources for their tools, and the code of the definition for the parameters of the turn. Code that throws, hangs
 * or returns nonsense ends the run, because the parameters are unknown. A source that does so changes nothing.
 */
export const prepareTurn = (find: FindPorts) =>
  effect<PrepareOutput, PrepareInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const { key } = input
    // What the code does it does for a turn that is in the log.
    await ports.held()
    try {
      const tools = await lookAtSources(ports, input, cancellation)
      const definition = tools?.definition ?? ports.definition
      // A turn that did not look at them has no tools anyway.
      const notUp = tools?.notUp ?? definition.toolSources.map(({ source }) => source)
      const decision = await decide({ ports, definition, input, cancellation, notUp })
      const memory = withNote(await remembering.use?.(ports, input, cancellation), stateNote(ports))
      const taken = {
        ...(tools === undefined ? {} : { tools: takenOf(tools) }),
        ...(memory === undefined ? {} : { memory }),
      }
      return { key, ok: true, decision, ...taken, at: ports.clock.now() }
    } catch (thrown) {
      cancellation.throwIfAborted()
      const what = `Agent "${ports.definition.name}" could not begin its turn: ${messageOf(thrown)}`
      return { key, ok: false, error: errorInfo('HOOK_FAILED', asSentence(what)), at: ports.clock.now() }
    }
  })

/** Adds a note to the messages that follow those of people. */
const withNote = (memory: TakenMemory | undefined, note: ContextMessage | undefined): TakenMemory | undefined =>
  note === undefined ? memory : { ...memory, recalled: [...(memory?.recalled ?? []), note] }

/** Asks the sources for their tools, unless the turn has no tools. */
async function lookAtSources(
  ports: AgentPorts,
  { runId, turnIndex, limit }: PrepareInput,
  cancellation: Cancellation,
): Promise<SourcesLook | undefined> {
  if (limit !== undefined) return undefined
  const look = await ports.lookAtSources?.(cancellation)
  for (const info of look?.news ?? []) ports.emit({ type: 'source.status', runId, turnIndex, ...info })
  return look
}

const takenOf = ({ change, definition: { policy } }: SourcesLook): TakenTools =>
  change === undefined ? { policy } : { policy, change }

/** A turn that is being prepared, with the definition that the agent has in this turn. */
interface Preparing {
  readonly ports: AgentPorts
  readonly definition: AgentDefinition
  readonly input: PrepareInput
  readonly cancellation: Cancellation
  /** The sources that may have more tools later. */
  readonly notUp: readonly string[]
}

async function decide(turn: Preparing): Promise<TurnDecision> {
  const { turns } = turn.definition
  const { use } = turn.input
  const isAsked = turns.instructions !== null && use?.instructions === undefined
  const instructions = isAsked ? await told(turn, 'instructions', () => askInstructions(turn)) : use?.instructions
  const known = instructions === undefined ? {} : { instructions }
  const by = isAsked ? (['instructions'] as const) : []
  if (turns.beforeTurn === null) return { by, ...known }
  return await told(turn, 'beforeTurn', async () => {
    const changes = await askChanges(turn, instructions)
    if (changes === undefined) return { by, ...known }
    return { ...known, ...changesOf(turn, changes), by: [...by, 'beforeTurn'] }
  })
}

/** Resolves with the outcome of a function of the application, and reports its failure to the application. */
async function told<T>({ ports, cancellation }: Preparing, what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (thrown) {
    if (!cancellation.aborted) ports.callbackFailed?.(what, thrown)
    throw thrown
  }
}

async function askInstructions({ ports, definition, input, cancellation }: Preparing): Promise<string> {
  const { instructions, timeoutMs } = definition.turns
  const text: unknown = await answerInTime(ports, { name: 'instructions', timeoutMs }, cancellation, (signal) =>
    instructions!(runContext(ports, input, { signal })),
  )
  if (typeof text !== 'string') throw new Error(`instructions returned ${typeof text}, not a string`)
  return text
}

/** Resolves with the value that `beforeTurn` returned, which may be nonsense. */
async function askChanges(turn: Preparing, instructions: string | undefined): Promise<unknown> {
  const { ports, definition, input, cancellation } = turn
  const { beforeTurn, timeoutMs } = definition.turns
  const about = turnContext(turn, instructions)
  const changes: unknown = await answerInTime(ports, { name: 'beforeTurn', timeoutMs }, cancellation, (signal) =>
    beforeTurn!({ ...runContext(ports, input, { signal }), ...about }),
  )
  return changes ?? undefined
}

/** Returns the parameters of the turn from the value of `beforeTurn`. Parts that no record can hold are stored in the ports. */
function changesOf(turn: Preparing, returned: unknown): Omit<TurnDecision, 'by'> {
  const { ports, definition, input, notUp } = turn
  const checked = turnChangesSchema().safeParse(returned)
  if (!checked.success) throw new Error(`beforeTurn returned nonsense: ${describeIssues(checked.error)}`)
  try {
    const { instructions, tools, toolChoice, model, settings: given } = returned as TurnChanges
    const mayCome = notUp.length > 0
    const names = tools === undefined ? undefined : offeredNames(definition, tools, mayCome)
    // The tool of a source may come later: until then the choice is left out.
    if (!mayCome) checkChoice(toolChoice, names ?? input.use?.tools ?? everyName(definition))
    if (names !== undefined && input.limit === undefined) warnOfMissing(turn, names)
    const chosen = model === undefined ? undefined : chosenModel(definition, model)
    const { providerOptions, ...rest } = given ?? {}
    const settings = withoutUndefined({ ...rest, toolChoice })
    ports.decided({ turnIndex: input.turnIndex, model: chosen?.priced, providerOptions })
    return {
      ...(instructions === undefined ? {} : { instructions }),
      ...(names === undefined ? {} : { tools: names }),
      ...(chosen === undefined ? {} : { model: chosen.use }),
      ...(Object.keys(settings).length === 0 ? {} : { settings }),
    }
  } catch (thrown) {
    throw new Error(`beforeTurn: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** Warns of tools that are missing; the turn continues without them. */
function warnOfMissing({ ports, definition, notUp }: Preparing, names: readonly string[]): void {
  const there = new Set(callableNames(definition))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length === 0) return
  const waited = `${notUp.length === 1 ? 'the source' : 'one of the sources'} ${notUp.join(', ')}`
  ports.tellApplication?.(
    `Agent "${definition.name}" is asked without ${missing.join(', ')}, which beforeTurn names: ${waited} may have it, and is not up.`,
  )
}

function turnContext(
  { ports: { conversation }, definition, input: { turn, spent, limits, lastStopReason, limit, use } }: Preparing,
  instructions: string | undefined,
): Omit<TurnContext<never>, 'agent' | 'runId' | 'turnIndex' | 'deps' | 'signal'> {
  return {
    turn,
    instructions: instructions ?? definition.instructions,
    tools: use?.tools ?? everyName(definition),
    model: use?.model?.id ?? definition.model.id,
    spent,
    limits,
    ...(lastStopReason === undefined ? {} : { lastStopReason }),
    ...(limit === undefined ? {} : { limit }),
    conversation,
  }
}

function checkChoice(choice: ToolChoice | undefined, offered: readonly string[]): void {
  if (typeof choice === 'object' && !offered.includes(choice.tool))
    throw new Error(`toolChoice: ${noSuch('tool', choice.tool, offered)}`)
}

/**
 * Returns the model that code chose.
 * @throws Error naming the existing models
 */
function chosenModel(
  definition: AgentDefinition,
  model: NonNullable<TurnChanges['model']>,
): { readonly priced: PricedModel; readonly use: { readonly id: string; readonly name?: string } } {
  if (typeof model !== 'string') {
    const priced = pricedModel(model, 'model')
    return { priced, use: { id: priced.model.id } }
  }
  const { models } = definition.turns
  const priced = models.get(model)
  if (priced !== undefined) return { priced, use: { id: priced.model.id, name: model } }
  if (model === definition.model.id) {
    const { pricing } = definition
    return { priced: { model: definition.model, pricing }, use: { id: model } }
  }
  throw new Error(noSuch('model', model, [...models.keys()]))
}
