import type { ModelRequest } from '../../../src/protocol/ports/model.ts'
import type { CapturedRequest } from '../../../src/conversation/request/captureRequest.ts'

/** Differences between a request and the previous one. */
export interface RequestChange {
  /** Number of equal leading messages. `gone` counts previous messages that are no longer sent. */
  readonly kept: number
  readonly gone: number
  readonly added: number
  readonly system: boolean
  readonly settings: boolean
  readonly tools: {
    readonly added: readonly string[]
    readonly removed: readonly string[]
    readonly changed: readonly string[]
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Compares a request with the previous one. Pure. */
export function requestChange(
  before: Pick<CapturedRequest, 'request'>,
  now: Pick<CapturedRequest, 'request' | 'kept'>,
): RequestChange {
  const [old, next] = [before.request, now.request]
  const names = ({ tools }: ModelRequest): string[] => tools.map(({ name }) => name)
  const specOf = ({ tools }: ModelRequest, wanted: string): unknown => tools.find(({ name }) => name === wanted)
  return {
    kept: now.kept,
    gone: old.messages.length - now.kept,
    added: next.messages.length - now.kept,
    system: old.system !== next.system,
    settings: !isSame(old.settings, next.settings),
    tools: {
      added: names(next).filter((name) => !names(old).includes(name)),
      removed: names(old).filter((name) => !names(next).includes(name)),
      changed: names(next).filter(
        (name) => names(old).includes(name) && !isSame(specOf(old, name), specOf(next, name)),
      ),
    },
  }
}
