import type { Fault } from '../mutate.ts'

const transcript = 'packages/policies/src/transcript.ts'
const relevance = 'packages/policies/src/relevance.ts'

const ofTranscript = ['policies/test/transcript']
const ofRelevance = ['policies/test/relevance']

export const faults: readonly Fault[] = [
  {
    id: 'transcript-1',
    file: transcript,
    what: 'what was said ends an entry of the transcript',
    from: 'neutralise(text, transcriptMarkers)',
    to: 'text + transcriptMarkers.next(0, 0).toString().slice(9)',
    tests: ofTranscript,
  },
  {
    id: 'transcript-2',
    file: transcript,
    what: 'a page has no end',
    from: 'if (entries.length > 0 && entry.length > room) break',
    to: '',
    tests: ofTranscript,
  },
  {
    id: 'transcript-3',
    file: transcript,
    what: 'a step longer than a page is never shown',
    from: 'if (entries.length > 0 && entry.length > room) break',
    to: 'if (entry.length > room) break',
    tests: ofTranscript,
  },
  {
    id: 'transcript-4',
    file: transcript,
    what: 'the outline has no end',
    from: 'if (line.length >= room) break',
    to: '',
    tests: ofTranscript,
  },
  {
    id: 'transcript-5',
    file: transcript,
    what: 'steps that are not there are read without a word',
    from: 'if (wanted.length === 0) return noStep(',
    to: 'if (wanted.length < 0) return noStep(',
    tests: ofTranscript,
  },
  {
    id: 'transcript-6',
    file: relevance,
    what: 'long texts are always relevant',
    from: 'const lengthWeight = 0.75',
    to: 'const lengthWeight = 0',
    tests: ofRelevance,
  },
  {
    id: 'transcript-7',
    file: relevance,
    what: 'common words count as much as rare ones',
    from: 'Math.log(1 + (counted.length - holders + 0.5) / (holders + 0.5))',
    to: '1',
    tests: ofRelevance,
  },
  {
    id: 'transcript-8',
    file: relevance,
    what: 'a name is not found by its parts',
    from: 'if (parts.length > 1) for',
    to: 'if (parts.length > 99) for',
    tests: ofRelevance,
  },
]
