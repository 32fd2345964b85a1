/** The step that a hosted machine is taking. Ids made in it are the same if it is taken again. */
export interface HostStep {
  readonly hostId: string
  /** `seq` of the record that caused the step. */
  readonly seq: number
  /** Number of agents that the machine has, including those made in this step. */
  agents: number
  /** Number of agents made and commands given to agents in this step. */
  births: number
  commands: number
}

let current: HostStep | undefined

/** Returns the step being taken; `undefined` outside of hosted machines. As transitions are synchronous, there is at most one. */
export const stepNow = (): HostStep | undefined => current

/** Runs `work` as a step, so that ids made in it are derived from the step. Returns the result of `work`, and throws its errors. */
export function inStep<T>(step: Pick<HostStep, 'hostId' | 'seq' | 'agents'>, work: () => T): T {
  const before = current
  current = { ...step, births: 0, commands: 0 }
  try {
    return work()
  } finally {
    current = before
  }
}

/** Maximum number of agents in one machine: XState stops flat children in quadratic time. */
export const mostAgents = 100

/** Returns the id for an agent, or for its first request, made in the current step; `undefined` outside of a step. */
export function nameInStep(): string | undefined {
  if (current === undefined) return undefined
  current.births += 1
  return `${current.hostId}-${current.seq}-${current.births}`
}

/** Returns the id of the machine in whose step an agent of this definition was named; `undefined` for any other id. */
export function machineNamedIn(agentId: string, definition: string): string | undefined {
  return agentId.startsWith(`${definition}-`)
    ? /^(.+)-\d+-\d+$/.exec(agentId.slice(definition.length + 1))?.[1]
    : undefined
}

/** Returns the id for a command given to an agent in the current step; `undefined` outside of a step. */
export function commandInStep(): string | undefined {
  if (current === undefined) return undefined
  current.commands += 1
  return `${current.hostId}/${current.seq}/${current.commands}`
}
