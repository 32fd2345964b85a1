import type { ArtifactPorts } from '../../../src/inspector/model/artifacts/artifactReader.ts'

/** What a page asked of a server, and what it did with the answers. */
export interface AskedArtifacts {
  readonly ports: ArtifactPorts
  /** Path and headers of each request. */
  readonly asked: readonly (readonly [path: string, headers: Readonly<Record<string, string>>])[]
}

/** Ports that ask a server, or a function in its place; nothing is opened or saved. */
export function artifactsAt(
  origin: string,
  answer?: (path: string, signal: AbortSignal) => Promise<Response>,
): AskedArtifacts {
  const asked: (readonly [string, Readonly<Record<string, string>>])[] = []
  return {
    asked,
    ports: {
      get(path, headers, signal) {
        asked.push([path, headers])
        return answer?.(path, signal) ?? fetch(origin + path, { headers, signal })
      },
      open: () => true,
      save: () => {},
      address: () => 'blob:picture',
      release: () => {},
    },
  }
}
