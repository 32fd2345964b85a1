import type { AnyTool } from '../../src/actors/tools/defineTool.ts'
import type { SourceHost, SourceStatus, ToolSource } from '../../src/actors/tools/toolSource.ts'

/** A source of tools that does what a test says. */
export interface ScriptedSource extends ToolSource {
  /** Sets the tools that it has. */
  has(...tools: readonly AnyTool[]): void
  /** Makes it go down with this trouble; its tools stay listed. */
  goDown(trouble: string): void
  /** Makes it available again. */
  comeUp(): void
  /** Sets its instructions for the system prompt. */
  says(instructions: string | undefined): void
  /** Makes `ready` wait until `release` is called. */
  hang(): { release(): void }
  /** `open`, `ready`, `close`, in the order in which the runtime called them. */
  readonly calls: readonly string[]
  /** Host that it was last opened with. */
  readonly host: SourceHost | undefined
  readonly isOpen: boolean
}

/** A source with these tools, which is ready as soon as it is asked. */
export function scriptedSource(
  source: string,
  tools: readonly AnyTool[] = [],
  options: { readonly secrets?: readonly string[] } = {},
): ScriptedSource {
  let current = tools
  let instructions: string | undefined
  let status: SourceStatus = { state: 'up', since: 0 }
  let gate: Promise<void> | undefined
  let host: SourceHost | undefined
  let isOpen = false
  const calls: string[] = []
  return {
    source,
    ...options,
    open(given) {
      calls.push('open')
      host = given
      isOpen = true
      return {
        get tools() {
          return current
        },
        get instructions() {
          return instructions
        },
        get trouble() {
          return status.trouble
        },
        async ready(signal) {
          calls.push('ready')
          if (gate === undefined) return
          await Promise.race([gate, new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))])
        },
        status: () => status,
        async close() {
          calls.push('close')
          isOpen = false
        },
      }
    },
    has: (...next) => void (current = next),
    goDown: (trouble) => void (status = { state: 'waiting', since: 1, trouble }),
    comeUp: () => void (status = { state: 'up', since: 2 }),
    says: (text) => void (instructions = text),
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return {
        release() {
          gate = undefined
          resolve()
        },
      }
    },
    calls,
    get host() {
      return host
    },
    get isOpen() {
      return isOpen
    },
  }
}
