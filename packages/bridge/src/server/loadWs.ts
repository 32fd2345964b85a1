import { createRequire } from 'node:module'
import type * as Ws from 'ws'

/**
 * The package `ws`. It is CommonJS, and as such loads in four fifths of the time that an `import` takes. Where it is part of a bundle, it may be nowhere
 * else: then the import, which bundlers see, has it.
 */
export async function loadWs(): Promise<typeof Ws> {
  try {
    return createRequire(import.meta.url)('ws') as typeof Ws
  } catch {
    return await import('ws')
  }
}
