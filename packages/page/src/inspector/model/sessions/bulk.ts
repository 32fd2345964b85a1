import { signal } from '@preact/signals'

/** Number of agents acted on at the same time: the server must answer others too. */
const atOnce = 8

/** Progress of an action on many agents. */
export interface BulkState {
  readonly words: string
  readonly done: number
  readonly total: number
  readonly failed: number
  /** Words of the first refusal. */
  readonly why: string | undefined
  readonly isOver: boolean
}

/** Acts on many agents, a few at a time, until it is stopped. */
export class Bulk {
  readonly state
  #isStopped = false

  constructor(words: string, total: number) {
    this.state = signal<BulkState>({ words, done: 0, total, failed: 0, why: undefined, isOver: false })
  }

  /** Acts on each item in turn, and counts refusals. Resolves when no action is under way any more. Never rejects. */
  async run<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
    const left = items.values()
    const next = async (): Promise<void> => {
      for (const item of left) {
        if (this.#isStopped) return
        const why = await act(item).then(
          () => undefined,
          (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
        )
        const { done, failed, why: first, ...rest } = this.state.value
        this.state.value = {
          ...rest,
          done: done + 1,
          failed: failed + (why === undefined ? 0 : 1),
          why: first ?? why,
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, next))
    this.state.value = { ...this.state.value, isOver: true }
  }

  /** Stops the action: items that were not begun are left alone. */
  stop(): void {
    this.#isStopped = true
  }
}

/** Describes the progress: `Retry: 120 of 251, 3 refused`. Pure. */
export const bulkWords = ({ words, done, total, failed }: BulkState): string =>
  `${words}: ${done} of ${total}${failed === 0 ? '' : `, ${failed} refused`}`
