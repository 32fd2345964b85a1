import type { Metadata } from '../../../src/protocol/metadata.ts'

/** Returns metadata as text for people. */
export const metadataText = (metadata: Metadata = {}): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ')
