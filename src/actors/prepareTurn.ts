import type { PrepareInput, PrepareOutput, TurnDecision } from '../machines/effectTypes.ts'
import { asSentence, describeIssues, errorInfo, messageOf } from '../protocol/errors.ts'
import type { ToolChoice } from '../protocol/turns.ts'
import type { AgentDefinition } from './agentDefinition.ts'
import { everyName, noSuch, offeredNames } from './offeredNames.ts'
import type { AgentPorts, FindPorts } from './agentPorts.ts'
import type { Cancellation } from './cancellation.ts'
import { effect } from './effect.ts'
import { TimeLimit } from './policies/timeLimit.ts'
import { runContext } from './runContext.ts'
import { pricedModel, turnChangesSchema, type PricedModel, type TurnChanges, type TurnContext } from './turnOptions.ts'

/** How long the code of a definition may take before a turn, in milliseconds. */
const turnHookMs = 30_000

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
    const limit = new TimeLimit(ports.clock, turnHookMs, cancellation)
    const asked: Asked = { what: 'instructions' }
    try {
      const decision = await limit.race(() => decide(ports, input, limit.cancellation, asked))
      return { key, ok: true, decision, at: ports.clock.now() }
    } catch (thrown) {
      cancellation.throwIfAborted()
      const why = limit.isOver ? `it took too long, over ${turnHookMs} ms` : messageOf(thrown)
      const error = errorInfo('HOOK_FAILED', asSentence(`${asked.what} of agent "${ports.definition.name}": ${why}`))
      return { key, ok: false, error, at: ports.clock.now() }
    } finally {
      limit.end()
    }
  })

/** Whose turn it is, for the error. */
interface Asked {
  what: 'instructions' | 'beforeTurn'
}

async function decide(
  ports: AgentPorts,
  input: PrepareInput,
  cancellation: Cancellation,
  asked: Asked,
): Promise<TurnDecision> {
  const { definition } = ports
  const { turns } = definition
  const by: TurnDecision['by'][number][] = []
  const context = runContext(ports, input, cancellation)
  let instructions = input.use?.instructions
  if (turns.instructions !== null && instructions === undefined) {
    const text: unknown = await turns.instructions(context)
    if (typeof text !== 'string') throw new Error(`it returned ${typeof text}, not a string`)
    instructions = text
    by.push('instructions')
  }
  if (turns.beforeTurn === null) return { by, ...(instructions === undefined ? {} : { instructions }) }
  cancellation.throwIfAborted()
  asked.what = 'beforeTurn'
  const turn = Object.defineProperties(
    turnContext(ports, input, instructions),
    Object.getOwnPropertyDescriptors(context),
  )
  const changes = checkedChanges(await turns.beforeTurn(turn as TurnContext<never>))
  cancellation.throwIfAborted()
  if (changes === undefined) return { by, ...(instructions === undefined ? {} : { instructions }) }
  by.push('beforeTurn')
  const tools = changes.tools === undefined ? undefined : offeredNames(definition, changes.tools)
  checkChoice(changes.toolChoice, tools ?? input.use?.tools ?? everyName(definition))
  const model = changes.model === undefined ? undefined : chosenModel(definition, changes.model)
  const { providerOptions, ...settings } = changes.settings ?? {}
  const recorded = { ...settings, ...(changes.toolChoice === undefined ? {} : { toolChoice: changes.toolChoice }) }
  ports.decided({ turnIndex: input.turnIndex, model: model?.priced, providerOptions })
  instructions = changes.instructions ?? instructions
  return {
    by,
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model: model.use }),
    ...(Object.keys(recorded).length === 0 ? {} : { settings: recorded }),
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

function checkedChanges(returned: unknown): TurnChanges | undefined {
  if (returned === undefined || returned === null) return undefined
  const checked = turnChangesSchema().safeParse(returned)
  if (!checked.success) throw new Error(`it returned nonsense: ${describeIssues(checked.error)}`)
  return returned
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
