import { createHash } from 'node:crypto'
import { isAgentDefinition, type AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { specOf } from '../../../../src/actors/define/definedAgent.ts'
import { deferredTools } from '../../../../src/actors/parts/deferred/deferral.ts'
import type { OfferedMachine } from '../../../xstate/src/hosts/registry.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** Definitions of agents and machines that a worker can run, by name. */
export class Definitions {
  /** Definitions that requests may name. */
  readonly names: readonly string[]
  readonly #all = new Map<string, AgentDefinition>()
  readonly #machines: ReadonlyMap<string, OfferedMachine>
  readonly #fingerprints = new Map<string, string>()

  /** @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION`: none, two of one name, or something else. */
  constructor(definitions: readonly AgentDefinition[], machines: readonly OfferedMachine[] = []) {
    if (!Array.isArray(definitions) || definitions.length + machines.length === 0)
      throw new RuntimeError('INVALID_OPTION', 'restateWorker: give definitions, a list with one or more.')
    for (const definition of definitions) {
      if (!isAgentDefinition(definition))
        throw new RuntimeError('INVALID_DEFINITION', 'restateWorker: definitions takes what defineAgent returns.')
      const { name } = definition
      if (this.#all.has(name))
        throw new RuntimeError('INVALID_OPTION', `restateWorker: two definitions are called "${name}".`)
      this.#all.set(name, definition)
    }
    this.names = [...this.#all.keys()]
    // A detached sub-agent becomes an agent of its own.
    for (const definition of definitions) this.#addBelow(definition)
    this.#machines = new Map(machines.map((machine) => [machine.name, machine]))
    const twice = machines.find(({ name }) => this.#all.has(name))?.name
    if (twice !== undefined || this.#machines.size < machines.length)
      throw new RuntimeError(
        'INVALID_OPTION',
        `restateWorker: two definitions are called "${twice ?? machines[0]!.name}".`,
      )
  }

  /** Returns the machine of this name; `undefined` if this worker has none. */
  machine(name: string | undefined): OfferedMachine | undefined {
    return name === undefined ? undefined : this.#machines.get(name)
  }

  #addBelow(definition: AgentDefinition): void {
    for (const { definition: below } of definition.agents.values()) {
      if (this.#all.has(below.name)) continue
      this.#all.set(below.name, below)
      this.#addBelow(below)
    }
  }

  /**
   * Returns the definition of an agent: the one in its log, else the requested one, else the only one.
   *
   * @throws RuntimeError `INVALID_DEFINITION`: this worker does not have it, or the agent has another.
   */
  of(agentId: string, logged: string | undefined, asked: string | undefined): AgentDefinition {
    if (logged !== undefined && asked !== undefined && logged !== asked)
      throw new RuntimeError('INVALID_DEFINITION', `Agent "${agentId}" is of definition "${logged}", not "${asked}".`)
    const name = logged ?? asked ?? (this.names.length === 1 ? this.names[0]! : undefined)
    const found = name === undefined ? undefined : this.#all.get(name)
    if (found !== undefined) return found
    const what =
      name === undefined
        ? `Agent "${agentId}" is new, and the request does not say its definition`
        : `This worker has no definition ${JSON.stringify(name)}, which agent "${agentId}" is of`
    throw new RuntimeError('INVALID_DEFINITION', `${what} (it has: ${this.names.join(', ')}).`)
  }

  /** Returns a fingerprint that distinguishes versions of a definition by their data. Functions are not examined. */
  fingerprint(name: string): string {
    const known = this.#fingerprints.get(name)
    if (known !== undefined) return known
    const machine = this.#machines.get(name)
    const made =
      machine === undefined ? fingerprintOf(this.#all.get(name)!) : `version ${machine.rules.version ?? 'none'}`
    this.#fingerprints.set(name, made)
    return made
  }
}

function fingerprintOf(definition: AgentDefinition): string {
  const { system, toolSpecs, agents, handoffs, model, snapshot, policy, maxQueue } = definition
  const found = deferredTools(definition).map(specOf)
  const said = [system, toolSpecs, [...agents.keys()], [...handoffs.keys()], model.id, snapshot, policy, maxQueue]
  if (found.length > 0) said.push(found)
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 16)
}
