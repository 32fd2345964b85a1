import type { BackgroundEnd } from '../../../../src/protocol/parts/background/backgroundRecords.ts'

const words: { readonly [E in BackgroundEnd]: string } = {
  aborted: 'was aborted',
  cancelled: 'was ended by the model',
  interrupted: 'was interrupted',
}

/** Returns how a background call ended, as the end of a sentence. */
export const howItEnded = ({
  isError,
  ended,
}: {
  readonly isError: boolean
  readonly ended?: BackgroundEnd | undefined
}): string => (ended === undefined ? (isError ? 'failed' : 'is done') : words[ended])
