import { cachedPackages } from '../support/cachedPackages.ts'

/** CopilotKit with its runtime, and assistant-ui. */
export const frontEndPackages = cachedPackages({
  name: 'A set of front ends of others',
  door: 'test/frontEnds/frontEndLab.ts',
  here: import.meta.dirname,
  cache: 'escapement-front-ends',
  withoutOptional: true,
  // The runtime of CopilotKit names all providers of models.
  withoutPeers: true,
})
