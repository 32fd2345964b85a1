import type { FollowedAgent } from './followedAgent.ts'

type Follow = (...given: ConstructorParameters<typeof FollowedAgent>) => FollowedAgent

let follow: Follow | undefined

/** Follows an agent; `undefined` until the code for it is there. */
export const laterFollow = (): Follow | undefined => follow

/** Fetches the code that follows an agent: the overview does without. Rejects when the server has no such code any more. */
export async function loadFollow(): Promise<void> {
  if (follow !== undefined) return
  const loaded = await import('./followedAgent.ts')
  follow = (...given) => new loaded.FollowedAgent(...given)
}
