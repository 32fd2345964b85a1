import { z } from 'zod'
import { isAgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { isAgentId } from '../../../src/protocol/ids.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { Agent } from '../../../src/runtime/agents/agent.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import { checkOptions, groupOptionsSchema } from './checkGroup.ts'
import { Reviews } from './reviews.ts'
import type { ReviewedOptions, Reviewing } from './reviewTypes.ts'

const callable = (): z.ZodType => z.custom((value) => typeof value === 'function', 'give a function')
const name = (): z.ZodString => z.string().regex(/^[\w-]{1,40}$/, 'use 1 to 40 letters, digits, "_" or "-"')

const optionsSchema = lazily(() =>
  groupOptionsSchema()
    .pick({ limits: true, deps: true })
    .extend({
      with: z.custom(
        (value) => isAgentDefinition(value) || typeof value === 'function',
        'give an agent from defineAgent, or a function',
      ),
      every: z.int().positive().optional(),
      when: callable().optional(),
      most: z.int().nonnegative().optional(),
      as: z.enum(['steer', 'followUp']).optional(),
      atRest: z.enum(['wait', 'begin']).optional(),
      timeoutMs: z.number().positive().max(86_400_000).optional(),
      name: name().optional(),
    }),
)

/** Names of the reviewers of each agent. */
const attached = new WeakMap<Agent, Set<string>>()

/**
 * Has the work of an agent reviewed while it goes on: every so many turns another agent, or a function, sees what was done since its last review,
 * and the agent is told of its finding as a message with the provenance `{ type: 'note', kind: 'review' }`. No turn waits for a review, and one that
 * fails changes nothing. One review is made at a time; what is done meanwhile is in the next.
 *
 * Call it again for the agent in the next process: a review by an agent that was cut off goes on from its log, and each finding is told once.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_ID`, `AGENT_INCOGNITO` (the log of an agent that reviews would tell of an incognito one); rejects
 * as `wake` and `runtime.resume` do
 *
 * @example
 * ```ts no-run
 * const second = defineAgent({ name: 'second', model, instructions: 'You review the work of a programmer.' })
 * const agent = await runtime.open('coder-1', coder)
 * const reviewing = await reviewed(runtime, agent, { with: second, every: 5, most: 3 })
 * await agent.prompt('Make the tests pass').result
 * console.log(reviewing.spent.costUsd)
 * ```
 */
export async function reviewed(
  runtime: AgentRuntime,
  agent: Agent<unknown, never>,
  options: ReviewedOptions,
): Promise<Reviewing> {
  if (runtime instanceof Agent || !((agent as unknown) instanceof Agent))
    throw new RuntimeError('INVALID_OPTION', 'reviewed takes a runtime and an agent first.')
  checkOptions('reviewed', optionsSchema, runtime, options)
  const own = agent as unknown as Agent
  const { with: reviewer } = options
  const definition = isAgentDefinition(reviewer) ? reviewer : undefined
  const { name: called = definition?.name ?? 'review' } = options
  const reviewerId = `${own.id}-${called}`
  if (!name().safeParse(called).success || !isAgentId(reviewerId))
    throw new RuntimeError(
      'INVALID_ID',
      `reviewed: the reviewer would have the id ${JSON.stringify(reviewerId)}: give a short name.`,
    )
  if (definition !== undefined && own.incognito)
    throw new RuntimeError(
      'AGENT_INCOGNITO',
      `Agent "${own.id}" is incognito, and an agent that reviews it has a log: give a function.`,
    )
  const names = attached.get(own) ?? new Set<string>()
  if (names.has(called))
    throw new RuntimeError(
      'INVALID_OPTION',
      `reviewed: agent "${own.id}" has a reviewer "${called}" already: end it, or give another name.`,
    )
  attached.set(own, names.add(called))
  const ended = (): void => void names.delete(called)
  const reviews = new Reviews({ runtime, agent: own, options, name: called, definition, reviewerId, ended })
  try {
    await reviews.begin()
  } catch (thrown) {
    await reviews.end()
    throw thrown
  }
  return reviews
}
