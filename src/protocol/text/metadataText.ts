import type { Metadata } from '../metadata.ts'

/** Metadata as people read it. */
export const metadataText = (metadata: Metadata = {}): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ')
