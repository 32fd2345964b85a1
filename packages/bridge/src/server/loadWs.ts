import { createRequire } from 'node:module'
import type * as Ws from 'ws'

/**
 * Loads the package `ws`. As CommonJS it loads in four fifths of the time of an `import`. In a bundle it may exist nowhere else, so the fallback is
 * an import, which bundlers see.
 */
export async function loadWs(): Promise<typeof Ws> {
  try {
    return createRequire(import.meta.url)('ws') as typeof Ws
  } catch {
    return await import('ws')
  }
}
