# What Logstash's filter "ruby" does with its settings init and code, for events of several workers: init is evaluated once, code
# becomes a block that is called for each event, and an exception in it becomes the tag _rubyexception.
#
#   logstash.rb INIT CODE WORKERS PIDS < events > events
#
# INIT and CODE are files, events lines of JSON. After a third and two thirds of the events the last process of the file PIDS is killed.
require 'json'

class Event
  def initialize(data)
    @data = data
  end
  attr_reader :data

  def get(name)
    @data[name]
  end

  def set(name, value)
    @data[name] = value
  end

  def tag(name)
    (@data['tags'] ||= []) << name
  end
end

class Filter
  def register(init, code)
    eval(init, binding, '(ruby filter init)')
    eval("@codeblock = lambda { |event, &new_event_block| #{code} }", binding, '(ruby filter code)')
  end

  def filter(event)
    @codeblock.call(event)
  rescue Exception => e
    STDERR.puts "#{e.class}: #{e.message}"
    event.tag('_rubyexception')
  end
end

init, code, workers, pids = ARGV
filter = Filter.new
filter.register(File.read(init), File.read(code))

events = STDIN.each_line(chomp: true).map { |line| Event.new(JSON.parse(line.force_encoding('UTF-8'))) }
queue = Queue.new
events.each { |event| queue << event }
queue.close

done = 0
count = Mutex.new
Array.new(Integer(workers)) do
  Thread.new do
    while (event = queue.pop)
      filter.filter(event)
      at = count.synchronize { done += 1 }
      next unless at == events.size / 3 || at == events.size * 2 / 3
      Process.kill('KILL', Integer(File.readlines(pids).last))
    end
  end
end.each(&:join)

STDOUT.set_encoding('UTF-8')
events.each { |event| puts JSON.generate(event.data) }
