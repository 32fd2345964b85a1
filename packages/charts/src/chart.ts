import { supervisorMachine } from '../../../src/machines/supervisorMachine.ts'
import { agentMachine } from '../../../src/machines/agentMachine.ts'
import type { AnyStateMachine } from 'xstate'
import { isAgentDefinition, type AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { agentMachineId } from '../../../src/machines/agentSetup.ts'
import { chartMermaid, type ChartDirection } from './chartMermaid.ts'
import type { chartPicture } from './chartPicture.ts'
import { chartModel, type BrakeFlags, type ChartModel } from './chartModel.ts'
import { checkChoice } from '../../../src/protocol/checks/checkChoice.ts'
import { overviewMermaid } from './overviewMermaid.ts'
import { overviewModel } from './overviewModel.ts'

/** Subject of a chart: the facts of an agent, local or remote, an agent definition, or any XState machine. */
export type ChartSubject = Facts | AgentDefinition | AnyStateMachine

interface Facts {
  readonly id: string
  /** Name of the agent's definition. */
  readonly definition: string
  /** Names of the active states, joined by commas. */
  readonly state: string
  /** Brakes that are on. If unknown, they are drawn neither open nor shut. */
  readonly braking?: BrakeFlags
}

export const chartFormats = ['mermaid', 'svg', 'json'] as const
export type ChartFormat = (typeof chartFormats)[number]
export const chartDirections = ['down', 'right'] as const
export const chartDetails = ['overview', 'full'] as const
export type ChartDetail = (typeof chartDetails)[number]

export interface ChartOptions<F extends ChartFormat = ChartFormat> {
  /** Default `mermaid`. */
  readonly format?: F | undefined
  /**
   * `overview`: the outermost states, closed, and the transitions between them in words, for an agent with the ring of its turns. `full`: every state
   * and transition. Default: `overview` for an `svg` of an agent or of `agentMachine`, otherwise `full`.
   */
  readonly detail?: ChartDetail | undefined
  /** States to highlight, such as `replying.streaming`. Default: an agent's current one, otherwise none. */
  readonly active?: readonly string[] | undefined
  /** Default `down`. The overview of an agent always goes right. */
  readonly direction?: ChartDirection | undefined
  /** Cancels the layout of an `svg`. */
  readonly signal?: AbortSignal | undefined
}

/** Result of `chart`. JSON and Mermaid are returned at once, an SVG as a promise, as its layout runs in a thread. */
export type ChartResult<F extends ChartFormat> = F extends 'json'
  ? ChartModel
  : F extends 'mermaid'
    ? string
    : Promise<string>

/** The machine that every agent runs, with the machines that it runs in turn. */
const wholeAgent = lazily(
  () =>
    agentMachine.provide({
      actors: { subAgent: supervisorMachine.provide({ actors: { agent: agentMachine as never } }) as never },
    }) as AnyStateMachine,
)

/**
 * Draws a statechart from the machine itself, with its guards, its brakes open or shut, the actors it runs, and the active states.
 * `mermaid` (default) returns text for a `stateDiagram-v2` and `json` the complete model, both at once; `svg` returns a promise of a
 * self-contained picture.
 *
 * @throws RuntimeError `INVALID_OPTION` for an unknown format, detail, direction or active state, or for anything that is not an agent or
 * machine. The promise rejects with the reason of `signal`.
 *
 * @example
 * ```ts
 * console.log(chart(coder)) // Mermaid
 * const svg = await chart(agent, { format: 'svg' })
 * ```
 */
export function chart<F extends ChartFormat = 'mermaid'>(
  subject: ChartSubject,
  options: ChartOptions<F> = {},
): ChartResult<F> {
  const format = checkChoice('format', options.format ?? 'mermaid', chartFormats)
  const direction = checkChoice('direction', options.direction ?? 'down', chartDirections)
  const whole = modelOfSubject(subject, options.active)
  const isAgent = whole.id === agentMachineId
  const detail = checkChoice(
    'detail',
    options.detail ?? (isAgent && format === 'svg' ? 'overview' : 'full'),
    chartDetails,
  )
  const model = detail === 'overview' ? overviewModel(whole) : whole
  if (format === 'json') return model as ChartResult<F>
  if (format === 'mermaid') {
    const write = isAgent && detail === 'overview' ? overviewMermaid : chartMermaid
    return write(model, { direction }) as ChartResult<F>
  }
  return drawSvg(model, direction, options.signal) as ChartResult<F>
}

/** Draws an SVG. The layout code is half of the charts' code, so it is loaded for the first picture. */
async function drawSvg(...picture: Parameters<typeof chartPicture>): Promise<string> {
  return (await import('./chartPicture.ts')).chartPicture(...picture)
}

const isMachine = (subject: object): subject is AnyStateMachine => 'root' in subject && 'implementations' in subject

/** Returns a machine of any copy of XState as a subject. @throws RuntimeError `INVALID_OPTION` */
export function machineSubject(machine: object): ChartSubject {
  if (!isMachine(machine)) throw notDrawable(machine)
  return machine
}

function modelOfSubject(subject: ChartSubject, active: readonly string[] | undefined): ChartModel {
  const what: unknown = subject
  if (typeof what !== 'object' || what === null) throw notDrawable(what)
  if (isAgentDefinition(subject)) {
    const { name, policy, agents } = subject
    const { compact: _, turns: __, ...brakes } = policy.flags
    const without = agents.size === 0 ? ['subAgent'] : []
    return lit(chartModel(wholeAgent(), { title: name, brakes, active, without }))
  }
  if (isMachine(subject)) return lit(chartModel(Object.is(subject, agentMachine) ? wholeAgent() : subject, { active }))
  const { id, state, braking } = subject as Partial<Facts>
  if (typeof id !== 'string' || typeof state !== 'string') throw notDrawable(what)
  return lit(chartModel(wholeAgent(), { title: id, brakes: braking, active: active ?? state.split(',') }))
}

const notDrawable = (what: unknown): RuntimeError =>
  new RuntimeError(
    'INVALID_OPTION',
    `chart takes an agent, what defineAgent returns, or an XState machine, not ${what === null ? 'null' : typeof what}.`,
  )

/** Returns the model, after checking that the machine has every active state. */
function lit(model: ChartModel): ChartModel {
  const states = model.nodes.filter(({ kind }) => kind !== 'initial').map(({ id }) => id)
  const unknown = model.active.find((name) => !states.includes(name))
  if (unknown === undefined) return model
  const there = states.filter((id) => id !== model.id).join(', ')
  throw new RuntimeError(
    'INVALID_OPTION',
    `active: ${model.id} has no state ${JSON.stringify(unknown)}; there are ${there}.`,
  )
}
