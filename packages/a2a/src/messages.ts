import type { Artifact, Message, Part, Task } from '@a2a-js/sdk'
import { Role } from '@a2a-js/sdk'

export const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})

export const dataPart = (value: unknown): Part => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: 'application/json',
})

interface Place {
  readonly messageId: string
  readonly taskId: string
  readonly contextId: string
}

export const messageOf = (role: 'user' | 'agent', parts: Part[], place: Place): Message => ({
  ...place,
  role: role === 'user' ? Role.ROLE_USER : Role.ROLE_AGENT,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
})

export const artifactOf = (artifactId: string, name: string, parts: Part[]): Artifact => ({
  artifactId,
  name,
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
})

/** Returns the text of parts, with addresses in place of files. */
export const textIn = (parts: readonly Part[]): string =>
  parts
    .flatMap(({ content, filename, mediaType }) => {
      switch (content?.$case) {
        case 'text':
          return [content.value]
        case 'url':
          return [`[${filename || mediaType || 'file'}](${content.value})`]
        case 'data':
          return [JSON.stringify(content.value, null, 2) ?? '']
        case 'raw':
          return [`[${filename || mediaType || 'file'}: ${content.value.length} bytes]`]
        default:
          return []
      }
    })
    .join('\n\n')

/** Returns the values of data parts. */
export const dataIn = (parts: readonly Part[]): unknown[] =>
  parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value as unknown] : []))

export const textInTask = ({ artifacts }: Pick<Task, 'artifacts'>): string =>
  artifacts
    .map(({ parts }) => textIn(parts.filter(({ content }) => content?.$case !== 'data')))
    .filter((text) => text !== '')
    .join('\n\n')
