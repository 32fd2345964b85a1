import { artifactName, artifactNames } from './artifacts/artifactNames.ts'
import type { ToolResultMessage } from './messages.ts'

/** Fields of a tool result that list the effects of its call and the data kept besides its text. */
export type CallEffects = Pick<ToolResultMessage, 'changed' | 'receipt' | 'artifacts'>

/** Returns the effect fields that are not empty. */
export const effectsIn = ({ changed, receipt, artifacts }: CallEffects): CallEffects => ({
  ...(changed === undefined || changed.length === 0 ? {} : { changed }),
  ...(receipt === undefined ? {} : { receipt }),
  ...(artifacts === undefined ? {} : { artifacts }),
})

/** Returns true if all effect fields are empty. */
export const isWithoutEffects = ({ changed, receipt, artifacts }: CallEffects): boolean =>
  (receipt ?? artifacts) === undefined && (changed === undefined || changed.length === 0)

/** Returns the fields of a result other than its effects. */
export const withoutEffects = <T extends CallEffects>({
  changed: _,
  receipt: __,
  artifacts: ___,
  ...others
}: T): Omit<T, keyof CallEffects> => others

/** Returns the names of a result's artifacts, as models refer to them, separated by commas. */
export const keptNames = ({ artifacts = [] }: CallEffects): string => artifacts.map(artifactName).join(', ')

export const hasKeptName = (word: string): boolean => artifactNames(word).length > 0
