import type { FollowedAgent } from './followedAgent.ts'

type Follow = (...given: ConstructorParameters<typeof FollowedAgent>) => FollowedAgent

let follow: Follow | undefined

/** Returns the function that follows an agent; `undefined` until its code is loaded. */
export const laterFollow = (): Follow | undefined => follow

/** Fetches the code that follows an agent, which the overview does without. Rejects if the server no longer has it. */
export async function loadFollow(): Promise<void> {
  if (follow !== undefined) return
  const loaded = await import('./followedAgent.ts')
  follow = (...given) => new loaded.FollowedAgent(...given)
}
