import type { BackgroundPorts } from '../../actors/parts/background/backgroundPorts.ts'
import { WaitedFor } from '../../actors/tools/waitForTool.ts'
import { backgroundCalls } from '../../machines/background.ts'
import type { CallReporter } from '../../machines/reporters.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import type { Evidence } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { TreeAgent } from '../children/treeAgent.ts'

/** Maximum number of UTF-16 units of output that `check_call` shows. */
const maxChars = 4_000
/** Longest wait for the report of a call that was ended, in milliseconds. */
const endMs = 10_000

type Waiting = TreeAgent & {
  readonly family: { readonly children: { waitFor(call: WaitCall, signal: AbortSignal): Promise<WaitedFor> } }
}
type WaitCall = { readonly ids: readonly string[]; readonly ms: number }

/** Background calls of one loaded agent: their output so far, and how to end them. */
export class Background implements BackgroundPorts {
  readonly #agent: Waiting
  readonly #outputs = new Map<string, string>()

  constructor(agent: Waiting) {
    this.#agent = agent
  }

  get #calls(): readonly CallReporter[] {
    return backgroundCalls(this.#agent.machine.context)
  }

  progressed(key: string, progress: unknown): void {
    const before = this.#outputs.get(key)
    // Those that have ended are looked for when one begins.
    if (before === undefined) this.#forget()
    this.#outputs.set(
      key,
      outputAfter(before ?? '', progress)
        .slice(-maxChars)
        .toWellFormed(),
    )
  }

  #forget(): void {
    const working = new Set(this.#calls.map(({ key }) => key))
    for (const key of this.#outputs.keys()) if (!working.has(key)) this.#outputs.delete(key)
  }

  check(id: string): string {
    const call = this.#calls.find((one) => one.id === id)
    if (call === undefined) return this.#notAtWork(id)
    const output = this.#outputs.get(call.key)
    const what = `${id} (${call.name}) is at work.`
    return output === undefined ? `${what} It has put out nothing so far.` : `${what} Its newest output:\n\n${output}`
  }

  within(nodes: readonly NodeId[]): NonNullable<Evidence['background']> {
    const { tools } = this.#agent.view.definition
    const found = this.#calls.filter(({ nodeId }) => nodes.includes(nodeId))
    return found.map(({ id, name }) => ({ id, name, aborted: tools.get(name)?.background?.survives !== true }))
  }

  async cancel(id: string, signal: AbortSignal): Promise<WaitedFor> {
    const { machine, shared, family } = this.#agent
    if (!this.#calls.some((one) => one.id === id)) return new WaitedFor(this.#notAtWork(id), [])
    machine.send({ type: 'cancelCall', id, at: shared.clock.now() })
    return family.children.waitFor({ ids: [id], ms: endMs }, signal)
  }

  #notAtWork(id: string): string {
    const working = this.#calls.map((one) => `${one.id} (${one.name})`).join(', ')
    return `${JSON.stringify(id)} is not at work, or has reported. ${working === '' ? 'No call is at work in the background.' : `At work: ${working}.`}`
  }
}

/** Returns the output so far with new progress. Pieces of output are joined; any other progress replaces the earlier. */
function outputAfter(before: string, progress: unknown): string {
  if (typeof progress === 'string') return before === '' ? progress : `${before}\n${progress}`
  const { output } = (progress ?? {}) as { readonly output?: unknown }
  if (typeof output === 'string') return before + output
  try {
    return JSON.stringify(cloneJson(progress)) ?? before
  } catch {
    return before
  }
}
