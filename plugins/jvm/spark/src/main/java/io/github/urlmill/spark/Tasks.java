package io.github.urlmill.spark;

import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** The end of tasks. */
final class Tasks {
  private Tasks() {}

  /**
   * Closes something when the task of this thread ends, fails or is killed. It has to bear that while another thread of the task uses
   * it. Outside of a task nothing happens.
   */
  static void closeWith(Ended what) {
    TaskContext task = TaskContext.get();
    if (task != null) {
      TaskCompletionListener listener = context -> what.taskEnded();
      task.addTaskCompletionListener(listener);
    }
  }

  /** What is told of the end. */
  interface Ended {
    void taskEnded();
  }
}
