import type { ScriptedReply } from '../../../evaluation/src/testing/scriptedModel.ts'

/** A reply that waits until it is let go; asked again after an abort, it waits again. */
export function heldReply(text: string): {
  readonly reply: ScriptedReply
  readonly asked: Promise<void>
  goOn(): void
} {
  const isAsked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const reply: ScriptedReply = async (_, { signal }) => {
    isAsked.resolve()
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([goOn.promise, aborted])
    return { text }
  }
  return { reply, asked: isAsked.promise, goOn: goOn.resolve }
}
