import type { SaidBlock } from '../../protocol/text/saidContent.ts'

const hasBytes = (block: object): boolean =>
  'data' in block &&
  (typeof block.data === 'string' || block.data instanceof Uint8Array) &&
  'mimeType' in block &&
  typeof block.mimeType === 'string'

/** Returns true if a value returned by a tool is already a list of content blocks. */
export const isBlocks = (value: unknown): value is readonly SaidBlock[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (block: unknown) =>
      typeof block === 'object' &&
      block !== null &&
      'type' in block &&
      ((block.type === 'text' && 'text' in block && typeof block.text === 'string') ||
        (block.type === 'file' && hasBytes(block)) ||
        (block.type === 'image' && (hasBytes(block) || ('url' in block && typeof block.url === 'string')))),
  )
