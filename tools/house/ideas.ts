import { refused } from '../../scripts/prose.ts'
import type { Source } from './sources.ts'

/** An idea that should live in one folder, and the words that name it in code. */
export interface Idea {
  readonly name: string
  /** Folders of its own, from the root. */
  readonly home: RegExp
  readonly words: RegExp
}

export const ideas: readonly Idea[] = [
  { name: 'guards', home: /\/guards\//, words: /guardedTo|\bguards\b|Guard(Answer|Context|Options)/ },
  { name: 'graft', home: /\/graft\//, words: /graft/i },
  { name: 'artifacts', home: /\/artifacts?\//, words: /artifact/i },
]

const code = (text: string): string => text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')

/** The files that name an idea in their code and lie outside its own folders. */
export const namersOf = ({ home, words }: Idea, sources: readonly Source[]): readonly string[] =>
  sources.filter(({ path, text }) => !home.test(path) && words.test(code(text))).map(({ path }) => path)

const callRecords = ['question.asked', 'question.answered', 'call.requested', 'tool.start', 'tool.end']

/** The files that tell the stage of a call from its records: they have a case for three or more of these. */
export const stagePlaces = (sources: readonly Source[]): readonly string[] =>
  sources
    .filter(({ text }) => {
      const plain = code(text)
      return (
        callRecords.filter(
          (type) => plain.includes(`case '${type}'`) || plain.includes(`'${type}':`) || plain.includes(`'${type}'(`),
        ).length >= 3
      )
    })
    .map(({ path }) => path)

const agentWord = /^(?:[A-Z][a-z]+)?Agent$|^Agent(?:Body|Host|Facts|Commands)$|^UnloadedHost$/

/** The classes and interfaces that stand for an agent, by their names. */
export const agentShapes = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => agentWord.test(name)),
  )

/** The doc comments that begin with a word that no comment should begin with. */
export const oddComments = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap(({ path, docs }) => docs.filter((doc) => refused.test(doc)).map((doc) => `${path}: ${doc}`))
