import { askedKinds, type AskedBrake } from '../../../../../../src/protocol/brakes/brakeTable.ts'
import type { Right } from '../../../../../wire/src/rights.ts'
import type { AgentViewState } from './agentView.ts'
import type { ConnectionStatus } from './connection.ts'

/** Actions on an agent that the page offers to a person. */
export type ControlName =
  | 'prompt'
  | 'steer'
  | 'followUp'
  | 'interrupt'
  | 'abort'
  | 'resume'
  | 'stop'
  | 'decide'
  | 'approve'
  | 'permit'
  | AskedBrake
  | 'compact'
  | 'brake'
  | 'fire'

/** Reason why each control cannot be used; `null` if it can. */
export type Controls = Readonly<Record<ControlName, string | null>>

/** The facts that decide if an agent can be driven from the page. */
export interface DriveFacts {
  /** The rights of the token. */
  readonly may: (right: Right) => boolean
  readonly connection: ConnectionStatus
  /** True if a token gave the rights. */
  readonly hasToken: boolean
  /** True if only logs are served: no agent runs, and none can be started. */
  readonly isRecording: boolean
}

/** Returns the reason why no agent can be driven from the page; `null` if it can. Pure. */
export function whyNotDrive(
  { may, connection, hasToken, isRecording }: DriveFacts,
  right: Right = 'talk',
): string | null {
  if (connection !== 'open') return 'There is no connection to the server.'
  if (may(right)) return null
  if (may('talk')) return `Your token does not allow this: it needs the right "${right}".`
  if (hasToken) return `Your token only lets you look: this needs the right "${right}".`
  return isRecording ? 'A recording: nothing runs here.' : 'This server only lets you look.'
}

/** Returns the reason why no fork can be made; `null` if it can, which includes the past and stopped agents. Pure. */
export function whyNotFork(facts: DriveFacts, status: AgentViewState['status']): string | null {
  const why = whyNotDrive(facts)
  if (why !== null) return why
  if (!facts.may('spawn')) return 'A fork is a new agent: starting one needs the right "spawn".'
  return status === 'loading' || status === 'error' ? 'The log is not there yet.' : null
}

/** The facts that decide which controls can be used. */
export interface ControlFacts extends DriveFacts {
  readonly view: Pick<AgentViewState, 'status' | 'chartState' | 'isRunning' | 'policies' | 'pause'> & {
    readonly isStopped: boolean
  }
}

/** Returns true if a run is under way. */
export const isBusy = (chartState: string): boolean => !/^(idle|paused|stopped|closed|)$/.test(chartState)

const whatever = (facts: ControlFacts, right: Right): string | null => {
  const { view } = facts
  const why = whyNotDrive(facts, right)
  if (why !== null) return why
  if (view.status === 'loading') return 'The log is still being read.'
  if (view.status === 'error') return 'The agent cannot be shown.'
  if (view.status === 'past') return 'You look at the past: go back to the newest moment first.'
  if (view.isStopped) return 'The agent was stopped for good.'
  return null
}

const inRun = ({ view }: ControlFacts): string | null => (isBusy(view.chartState) ? null : 'No run is under way.')

const table: { readonly [C in ControlName]: (facts: ControlFacts) => string | null } = {
  prompt: () => null,
  steer: inRun,
  followUp: inRun,
  interrupt: inRun,
  abort: (facts) => (facts.view.chartState === 'paused' ? null : inRun(facts)),
  resume: ({ view }) => {
    if (view.chartState !== 'paused') return 'The agent is not paused.'
    if (view.pause?.type === 'timer') return 'It sleeps, and goes on by itself. A message wakes it.'
    return view.pause?.type === 'approvals' ? 'It waits for a decision, not to be resumed.' : null
  },
  stop: () => null,
  decide: () => null,
  approve: () => null,
  permit: () => null,
  ...(Object.fromEntries(askedKinds.map((kind) => [kind, () => null])) as Record<AskedBrake, () => null>),
  compact: () => null,
  fire: () => null,
  brake: ({ view }) =>
    view.policies === null || view.policies.length === 0
      ? 'The agent has no policies: braking: { policies: [...] } gives it some.'
      : null,
}

/** Rights that controls need, where that is not `control`. */
const rightFor: { readonly [C in ControlName]?: Right } = {
  prompt: 'talk',
  steer: 'talk',
  followUp: 'talk',
  interrupt: 'talk',
  abort: 'talk',
  decide: 'answer.own',
  approve: 'approve',
}

/** Returns each control with the reason why it cannot be used, or `null`. Pure. */
export function controlsOf(facts: ControlFacts): Controls {
  return Object.fromEntries(
    Object.entries(table).map(([name, why]) => [
      name,
      whatever(facts, rightFor[name as ControlName] ?? 'control') ?? why(facts),
    ]),
  ) as Controls
}

/** Returns the facts about a view that decide what can be done. Pure. */
export const viewFacts = (view: AgentViewState): Parameters<typeof controlsOf>[0]['view'] => ({
  status: view.status,
  chartState: view.chartState,
  isRunning: view.isRunning,
  policies: view.policies,
  pause: view.pause,
  isStopped: view.records.at(-1)?.type === 'agent.stopped',
})
