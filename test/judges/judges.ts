import { cachedPackages } from '../support/cachedPackages.ts'

/** Mermaid, the models of Kubernetes, reference servers of the Model Context Protocol, Stately's inspector, OpenAI's package of the AI SDK, and a checker of regular expressions. */
export const judges = cachedPackages({
  name: 'What judges our output',
  door: 'test/judges/judge.ts',
  here: import.meta.dirname,
  cache: 'escapement-judges',
  withoutOptional: true,
})
