import type { PrepareInput, PrepareOutput, TurnDecision } from '../machines/effectTypes.ts'
import { asSentence, describeIssues, errorInfo, messageOf } from '../protocol/errors.ts'
import type { ToolChoice } from '../protocol/turns.ts'
import type { AgentDefinition } from './agentDefinition.ts'
import { everyName, noSuch, offeredNames } from './offeredNames.ts'
import type { AgentPorts, FindPorts } from './agentPorts.ts'
import type { Cancellation } from './cancellation.ts'
import { effect } from './effect.ts'
import { answerInTime } from './answerInTime.ts'
import { withoutUndefined } from './withoutUndefined.ts'
import { runContext } from './runContext.ts'
import { pricedModel, turnChangesSchema, type PricedModel, type TurnChanges, type TurnContext } from './turnOptions.ts'

/**
 * The effect of `preparing`: asks the code of the definition what the turn is asked with. Code that throws, hangs or answers nonsense ends
 * the run: nobody knows what the turn would have been asked with.
 */
export const prepareTurn = (find: FindPorts) =>
  effect<PrepareOutput, PrepareInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const { key } = input
    // What the code does it does for a turn that is in the log.
    await ports.durable()
    try {
      const decision = await decide(ports, input, cancellation)
      return { key, ok: true, decision, at: ports.clock.now() }
    } catch (thrown) {
      cancellation.throwIfAborted()
      const what = `Agent "${ports.definition.name}" could not begin its turn: ${messageOf(thrown)}`
      return { key, ok: false, error: errorInfo('HOOK_FAILED', asSentence(what)), at: ports.clock.now() }
    }
  })

async function decide(ports: AgentPorts, input: PrepareInput, cancellation: Cancellation): Promise<TurnDecision> {
  const { use } = input
  const { turns } = ports.definition
  const isAsked = turns.instructions !== null && use?.instructions === undefined
  const instructions = isAsked ? await askInstructions(ports, input, cancellation) : use?.instructions
  const known = instructions === undefined ? {} : { instructions }
  const by = isAsked ? (['instructions'] as const) : []
  if (turns.beforeTurn === null) return { by, ...known }
  const changes = await askChanges(ports, input, cancellation, instructions)
  if (changes === undefined) return { by, ...known }
  return { ...known, ...changesOf(ports, input, changes), by: [...by, 'beforeTurn'] }
}

async function askInstructions(ports: AgentPorts, input: PrepareInput, cancellation: Cancellation): Promise<string> {
  const { instructions, timeoutMs } = ports.definition.turns
  const text: unknown = await answerInTime(ports, { name: 'instructions', timeoutMs }, cancellation, (signal) =>
    instructions!(runContext(ports, input, { signal })),
  )
  if (typeof text !== 'string') throw new Error(`instructions returned ${typeof text}, not a string`)
  return text
}

/** What `beforeTurn` returned; it may be nonsense. */
async function askChanges(
  ports: AgentPorts,
  input: PrepareInput,
  cancellation: Cancellation,
  instructions: string | undefined,
): Promise<unknown> {
  const { beforeTurn, timeoutMs } = ports.definition.turns
  const about = turnContext(ports, input, instructions)
  const changes: unknown = await answerInTime(ports, { name: 'beforeTurn', timeoutMs }, cancellation, (signal) =>
    beforeTurn!({ ...runContext(ports, input, { signal }), ...about }),
  )
  return changes ?? undefined
}

/** What the turn is asked with because of what `beforeTurn` returned. What no record can hold is left with the ports. */
function changesOf(ports: AgentPorts, input: PrepareInput, returned: unknown): Omit<TurnDecision, 'by'> {
  const { definition } = ports
  const checked = turnChangesSchema().safeParse(returned)
  if (!checked.success) throw new Error(`beforeTurn returned nonsense: ${describeIssues(checked.error)}`)
  try {
    const { instructions, tools, toolChoice, model, settings: given } = returned as TurnChanges
    const names = tools === undefined ? undefined : offeredNames(definition, tools)
    checkChoice(toolChoice, names ?? input.use?.tools ?? everyName(definition))
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

function turnContext(
  { definition, conversation }: AgentPorts,
  { turn, spent, limits, lastStopReason, limit, use }: PrepareInput,
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
 * The model that code chose.
 *
 * @throws Error naming the models there are.
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
