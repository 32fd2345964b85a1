import { artifactName, artifactNames } from './artifacts/artifactNames.ts'
import type { ToolResultMessage } from './messages.ts'

/** Fields of a result that tell what its call has done, and what is kept of it apart from its text. */
export type CallEffects = Pick<ToolResultMessage, 'changed' | 'receipt' | 'artifacts'>

/** Returns those of these fields that have something. */
export const effectsIn = ({ changed, receipt, artifacts }: CallEffects): CallEffects => ({
  ...(changed === undefined || changed.length === 0 ? {} : { changed }),
  ...(receipt === undefined ? {} : { receipt }),
  ...(artifacts === undefined ? {} : { artifacts }),
})

/** Returns true if none of them has anything. */
export const isWithoutEffects = ({ changed, receipt, artifacts }: CallEffects): boolean =>
  (receipt ?? artifacts) === undefined && (changed === undefined || changed.length === 0)

/** Returns the fields besides these. */
export const withoutEffects = <T extends CallEffects>({
  changed: _,
  receipt: __,
  artifacts: ___,
  ...others
}: T): Omit<T, keyof CallEffects> => others

/** Names by which models refer to what a result keeps. */
export const keptNames = ({ artifacts = [] }: CallEffects): string => artifacts.map(artifactName).join(', ')

export const hasKeptName = (word: string): boolean => artifactNames(word).length > 0
