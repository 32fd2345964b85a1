import { defineAgent } from '../../src/index.ts'
import { defineSuite } from '../../src/testing.ts'
import { colleagueTool } from './colleague.ts'
import { exercisesModel, windowTokens } from './exercisesModel.ts'
import { scoreExercise, scoreExercises } from './exerciseScorers.ts'

// oxlint-disable-next-line import/no-default-export -- Suites are read so.
export default defineSuite({
  agent: ({ model, tools, task }) =>
    defineAgent({
      name: 'pupil',
      model,
      instructions:
        'You write small JavaScript modules (ES modules, without packages) in one folder, one exercise after another. Write exactly the file that is asked for. What you were told before holds for later exercises too. Answer in a sentence.',
      tools: [...tools, colleagueTool(task)],
      // Small on purpose: one of the conversations fills it.
      compaction: { contextWindow: windowTokens },
    }),
  // Made for a window of that size.
  arms: {
    fold: {
      braking: { fold: { cap: 0.6 * windowTokens, work: 2_500, minBatch: 1_500, keepSteps: 6, indexTokens: 700 } },
    },
  },
  models: { embedded: ({ task, seed }) => exercisesModel(task, seed) },
  scorers: { exercise: scoreExercise, exercises: scoreExercises },
})
